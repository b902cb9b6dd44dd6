package cluster

import (
	"context"
	"net"
	"net/netip"

	"github.com/gorge-tf/gorge/internal/device"
	"github.com/gorge-tf/gorge/internal/rendezvous"
	"github.com/gorge-tf/gorge/internal/rpc"
	"github.com/gorge-tf/gorge/internal/verbs"
	"github.com/gorge-tf/gorge/internal/verbs/soft"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/session"
)

// The protocols by which tasks exchange tensors. With the second one, calls
// still go by gRPC, but tensors are written to the receiver's memory.
const (
	protocolGRPC  = "grpc"
	protocolVerbs = "grpc+verbs"
)

func init() { session.RegisterFactory(protocolVerbs, newRemote) }

// newVerbs returns the RDMA half of a server. There is no hardware to be found
// yet: the device is a software one, at the address of the server.
func (s *Server) newVerbs(c *Config, devices *device.Set, steps *rendezvous.Manager) (*verbs.Manager, error) {
	ip, err := s.ip(c)
	if err != nil {
		return nil, err
	}
	dev, err := soft.Open(soft.Options{Listen: netip.AddrPortFrom(ip, 0).String()})
	if err != nil {
		return nil, tf.Errorf(tf.Unknown, "Could not start the RDMA device: %v", err)
	}
	m, err := verbs.NewManager(dev, verbs.Options{
		Config: verbs.Config{Log: s.log}, Task: s.task, Peers: others(c.Cluster.tasks(), s.task),
		Serve: serveSteps(steps, devices, s.task), Exchanger: s.channels,
	})
	if err != nil {
		return nil, err
	}
	rpc.RegisterVerbs(s.grpc, m)
	rpc.RegisterVerbs(s.links, m)
	return m, nil
}

// ip returns the address at which the server listens, or the one that the
// cluster gives if it listens at all of its machine's.
func (s *Server) ip(c *Config) (netip.Addr, error) {
	if a, ok := s.listener.Addr().(*net.TCPAddr); ok {
		if ip := a.AddrPort().Addr().Unmap(); !ip.IsUnspecified() {
			return ip, nil
		}
	}
	addr, err := c.Cluster.Address(c.Job, c.Task)
	if err != nil {
		return netip.Addr{}, err
	}
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return netip.Addr{}, tf.Errorf(tf.InvalidArgument, "an address must be host:port, got %q", addr)
	}
	ips, err := net.DefaultResolver.LookupNetIP(context.Background(), "ip", host)
	if err != nil || len(ips) == 0 {
		return netip.Addr{}, tf.Errorf(tf.InvalidArgument, "protocol %s needs the IP address of %s: %v", protocolVerbs, host, err)
	}
	return ips[0].Unmap(), nil
}

func others(tasks []string, own string) []string {
	var out []string
	for _, t := range tasks {
		if t != own {
			out = append(out, t)
		}
	}
	return out
}

// serveSteps returns the function that gives other tasks what steps here send
// them, if they mean this life of the device that sends.
func serveSteps(steps *rendezvous.Manager, devices *device.Set, task string) verbs.Serve {
	return func(ctx context.Context, step int64, key string, done rendezvous.Done) {
		k, err := rendezvous.ParseKey(key)
		if err == nil {
			err = rendezvous.CheckSource(k, devices, task)
		}
		if err != nil {
			done(nil, false, err)
			return
		}
		steps.RecvLocal(ctx, step, key, done)
	}
}
