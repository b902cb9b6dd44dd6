package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"strings"

	"github.com/gorge-tf/gorge/internal/verbs/ibv"
	"github.com/gorge-tf/gorge/internal/verbs/ping"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/cluster"
)

// describeRDMA says what libibverbs knows of this machine.
func describeRDMA(stdout io.Writer) {
	limit, unlimited := ibv.LockedMemory()
	locked := fmt.Sprintf("%d KiB", limit>>10)
	if unlimited {
		locked = "unlimited"
	}
	fmt.Fprintf(stdout, "memory that may be locked for RDMA: %s\n", locked)
	list, err := ibv.List()
	if err != nil {
		fmt.Fprintf(stdout, "libibverbs: %s\n", tf.AsError(err).Message())
		return
	}
	for _, d := range list {
		fmt.Fprintf(stdout, "libibverbs: %v\n", d)
		for _, p := range d.Ports {
			fmt.Fprintf(stdout, "  %s\n", portLine(p))
		}
	}
	if len(list) == 0 {
		fmt.Fprintln(stdout, "libibverbs: there is no device")
	}
}

// portLine shows a port.
func portLine(p ibv.PortInfo) string {
	link := "InfiniBand"
	if p.Ethernet {
		link = "Ethernet"
	}
	var gids []string
	for _, g := range p.GIDs {
		gids = append(gids, g.String())
	}
	return fmt.Sprintf("port %d: %s, %s, MTU %d, messages up to %d bytes, %s", p.Num, p.State, link, p.MTU, p.MaxMessage, strings.Join(gids, ", "))
}

// rdmaFlags are those of a ping between RDMA devices.
type rdmaFlags struct{ listen, to, device, provider string }

func (f *rdmaFlags) register(s *flag.FlagSet) {
	s.StringVar(&f.listen, "rdma_listen", "", "wait at `host:port` for one ping by RDMA, and answer it")
	s.StringVar(&f.to, "rdma_ping", "", "ping, by RDMA, the doctor that waits at `host:port`: 1 KB and 1 MB are written there and back")
	s.StringVar(&f.device, "rdma_device", "", "`device` to ping with; the environment's RDMA_DEVICE otherwise")
	s.StringVar(&f.provider, "rdma", "", "`provider` of the device: ibverbs, or soft")
}

func (f *rdmaFlags) used() bool { return f.listen != "" || f.to != "" }

// ping does what the flags say, over the device that a server at that address
// would use.
func (f *rdmaFlags) ping(ctx context.Context, stdout io.Writer) (err error) {
	if f.listen != "" && f.to != "" {
		return tf.Errorf(tf.InvalidArgument, "-rdma_listen and -rdma_ping exclude each other")
	}
	own := f.listen
	if own == "" {
		if own, err = addressTo(f.to); err != nil {
			return err
		}
	}
	dev, err := cluster.OpenRDMA(cluster.RDMA{Provider: f.provider, Device: f.device}, own)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, dev.Close()) }()
	fmt.Fprintf(stdout, "rdma device: %s\n", dev.Attributes().Detail)
	if f.to != "" {
		results, peer, err := ping.Run(ctx, dev, f.to)
		for _, r := range results {
			fmt.Fprintf(stdout, "rdma ping: %7d bytes there and back in %v (%s)\n", r.Size, r.Took, peer)
		}
		return err
	}
	l, err := net.Listen("tcp", f.listen)
	if err != nil {
		return tf.Errorf(tf.Unavailable, "cannot wait for a ping: %v", err)
	}
	fmt.Fprintf(stdout, "rdma: waiting for a ping at %v\n", l.Addr())
	return ping.Serve(ctx, dev, l)
}

// addressTo returns this machine's address on the way to another one.
func addressTo(peer string) (string, error) {
	conn, err := net.Dial("udp", peer)
	if err != nil {
		return "", tf.Errorf(tf.InvalidArgument, "a ping needs host:port of who is to answer, got %q: %v", peer, err)
	}
	defer conn.Close()
	return conn.LocalAddr().String(), nil
}
