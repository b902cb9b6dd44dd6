package cluster

import (
	"context"
	"errors"
	"net"
	"net/netip"

	"github.com/gorge-tf/gorge/internal/memory"
	"github.com/gorge-tf/gorge/internal/remote"
	"github.com/gorge-tf/gorge/internal/rendezvous"
	"github.com/gorge-tf/gorge/internal/rpc"
	"github.com/gorge-tf/gorge/internal/verbs"
	"github.com/gorge-tf/gorge/internal/worker"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/pb"
)

// The protocols by which tasks exchange tensors.
const (
	protocolGRPC  = remote.SchemeGRPC
	protocolVerbs = remote.SchemeVerbs
)

// newVerbs returns the RDMA half of a server. Where there is none, and the
// configuration allows that, it returns nil, after it has said why.
func (s *Server) newVerbs(c *Config, other rendezvous.Transport) (*verbs.Manager, error) {
	ip, err := s.ip(c)
	if err != nil {
		return nil, err
	}
	dev, depth, err := c.RDMA.open(ip, c.verbsTLS())
	if err != nil {
		if !c.RDMA.Fallback {
			return nil, err
		}
		s.log.Warn("there is no RDMA, tensors between tasks go by "+protocolGRPC, "error", err)
		return nil, nil
	}
	o := verbs.Options{
		Config: verbs.Config{Log: s.log, QueueDepth: depth, ArenaBytes: c.RDMA.ArenaBytes, Generation: c.RDMA.Generation}, Task: s.task, Peers: others(c.Cluster.tasks(), s.task),
		Serve: s.serveVerbs, Exchanger: s.channels,
	}
	if c.RDMA.Fallback {
		o.Fallback = other
	}
	m, err := verbs.NewManager(dev, o)
	if err != nil {
		return nil, err
	}
	s.transport = "RDMA: " + dev.Attributes().Detail
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

// serveVerbs gives other tasks what they ask for by RDMA: what steps send, or
// what collective operations leave. Both come from the worker, as for gRPC and
// links. It is called only after peers have exchanged addresses, when the
// worker exists. The protocol's requests have no id that lasts longer than
// their channel, so they are as gRPC's without id: not known again, not kept.
func (s *Server) serveVerbs(ctx context.Context, step int64, key string, done rendezvous.Done) {
	req, err := verbs.ParseBufferKey(key)
	switch {
	case err != nil:
		done(nil, false, err)
	case req == nil:
		s.worker.StartRecvTensor(ctx, &pb.RecvTensorRequest{StepId: step, RendezvousKey: key}, func(v worker.Received, err error) {
			done(v.Tensor, v.Dead, err)
		})
	default:
		s.lending.Go(func() { s.serveBuffer(ctx, req, done) }) // the channel's end ends ctx
	}
}

// serveBuffer waits for a value of a collective operation, and lends it.
func (s *Server) serveBuffer(ctx context.Context, req *pb.RecvBufRequest, done rendezvous.Done) {
	defer func() {
		if r := recover(); r != nil {
			done(nil, false, tf.Errorf(tf.Internal, "a value for another task could not be lent: %v", r))
		}
	}()
	b, err := s.worker.RecvBuf(ctx, req)
	if err != nil {
		done(nil, false, err)
		return
	}
	done(core.TensorOf(tf.Uint8, tf.Shape{len(b.Content)}, memory.Adopt(b.Content, func() {
		if b.Sent != nil {
			b.Sent()
		}
	})), false, nil)
}

// A verbsMember is a task that takes part in collective operations, and sends
// their values by RDMA if it can.
type verbsMember struct {
	rpc.PatientWorker
	task  string
	verbs *verbs.Manager
}

// RecvBuf fills into with a value of the task's.
func (m verbsMember) RecvBuf(ctx context.Context, req *pb.RecvBufRequest, into []byte) error {
	err := m.verbs.RecvBuf(ctx, m.task, req, into)
	if errors.Is(err, verbs.ErrPlain) {
		return m.PatientWorker.RecvBuf(ctx, req, into)
	}
	return err
}
