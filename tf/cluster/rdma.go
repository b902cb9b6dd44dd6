package cluster

import (
	"cmp"
	"crypto/tls"
	"net"
	"net/netip"
	"os"

	"github.com/gorge-tf/gorge/internal/verbs"
	"github.com/gorge-tf/gorge/internal/verbs/ibv"
	"github.com/gorge-tf/gorge/internal/verbs/soft"
	"github.com/gorge-tf/gorge/tf"
)

// The providers of RDMA devices.
const (
	// ProviderVerbs is libibverbs: network cards, and devices that the kernel has
	// in software. It is there in programs built with cgo and the tag rdma.
	ProviderVerbs = "ibverbs"
	// ProviderSoft does the same over TCP, or TLS, on every machine.
	ProviderSoft = "soft"
)

// RDMA says how a server with protocol "grpc+verbs" exchanges tensors. What is not
// set is taken from the environment, from the variables of TensorFlow's verbs
// servers (RDMA_DEVICE, RDMA_DEVICE_PORT, RDMA_GID_INDEX, RDMA_PKEY,
// RDMA_QUEUE_DEPTH, RDMA_TIMEOUT, RDMA_RETRY_CNT, RDMA_SL, RDMA_MTU,
// RDMA_TRAFFIC_CLASS) and GORGE_RDMA_NUMA_NODE, or else is TensorFlow's default.
type RDMA struct {
	// Provider is ProviderVerbs or ProviderSoft; "": what GORGE_RDMA_PROVIDER in the
	// environment says, or else ProviderVerbs in programs that have it.
	Provider string
	// Fallback lets tensors go by gRPC, or links, if this machine has no RDMA
	// device, and from tasks that do not speak RDMA. Without it both are errors.
	Fallback bool

	Device       string // mlx5_0, say; "": the only one with an active port, or the one with the server's address
	Port         int    // of Device, from 1; 0: the first that is active
	GIDIndex     *int   // of the port's identifiers; nil: the one with the server's address, or the only one that fits
	NUMANode     *int   // of several devices, the one nearest to this node is used; nil: the node that the process is bound to
	PKey         *int   // index of the partition key; nil: 0
	QueueDepth   int    // requests that a connection holds; 0: 1024
	Timeout      *int   // a packet is sent again after 4.096 µs · 2^Timeout; nil: 14
	RetryCnt     *int   // how many times a packet is sent again, 0 to 7; nil: 7
	ServiceLevel *int   // 0 to 7; nil: 0
	MTU          int    // bytes; 0: the port's active one
	TrafficClass *int   // 0 to 255; nil: 0
	// Generation of TensorFlow's protocol that all tasks speak: 2, of TensorFlow 1.6, which
	// is the default, or 1, of TensorFlow 1.1 to 1.4, which copies at both ends.
	Generation int
	// ArenaBytes is how much memory is registered for tensors; 0: 64 MiB.
	ArenaBytes int
}

// options are the settings of the environment with those of r over them.
func (r *RDMA) options(lookup func(string) (string, bool)) (ibv.Options, error) {
	o, err := ibv.FromEnv(lookup)
	if err != nil {
		return o, err
	}
	o.Device, o.Port = cmp.Or(r.Device, o.Device), cmp.Or(r.Port, o.Port)
	o.QueueDepth, o.MTU = cmp.Or(r.QueueDepth, o.QueueDepth), cmp.Or(r.MTU, o.MTU)
	if r.GIDIndex != nil {
		o.GIDIndex = r.GIDIndex
	}
	if r.NUMANode != nil {
		o.Node = r.NUMANode
	}
	for _, v := range []struct{ from, to *int }{{r.PKey, &o.PKey}, {r.Timeout, &o.Timeout}, {r.RetryCnt, &o.RetryCnt}, {r.ServiceLevel, &o.ServiceLevel}, {r.TrafficClass, &o.TrafficClass}} {
		if v.from != nil {
			*v.to = *v.from
		}
	}
	return o, o.Check()
}

// provider is the one that is meant, and whether it exists in this program is its
// own matter.
func (r *RDMA) provider(lookup func(string) (string, bool)) (string, error) {
	env, _ := lookup("GORGE_RDMA_PROVIDER")
	p := cmp.Or(r.Provider, env)
	switch {
	case p == "" && ibv.Built:
		return ProviderVerbs, nil
	case p == "":
		return ProviderSoft, nil
	case p != ProviderVerbs && p != ProviderSoft:
		return "", tf.Errorf(tf.InvalidArgument, "the provider of RDMA devices must be %q or %q, got %q", ProviderVerbs, ProviderSoft, p)
	}
	return p, nil
}

// An RDMADevice is an open device: package internal/verbs says what it does.
type RDMADevice = verbs.Device

// OpenRDMA opens the device that a server uses which listens at an address of this
// machine, host:port; for tools that look at it.
func OpenRDMA(r RDMA, address string) (RDMADevice, error) {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return nil, tf.Errorf(tf.InvalidArgument, "an address must be host:port, got %q", address)
	}
	ip, err := netip.ParseAddr(host)
	if err != nil {
		return nil, tf.Errorf(tf.InvalidArgument, "the host of an RDMA server must be given by its IP address, got %q", host)
	}
	dev, _, err := r.open(ip, nil)
	return dev, err
}

// open opens the device that a server at an address uses, and returns how deep
// its queues are to be. c, if not nil, has to secure what crosses.
func (r *RDMA) open(ip netip.Addr, c *tls.Config) (dev verbs.Device, depth int, err error) {
	p, err := r.provider(os.LookupEnv)
	if err != nil {
		return nil, 0, err
	}
	o, err := r.options(os.LookupEnv)
	if err != nil {
		return nil, 0, err
	}
	if err := checkSecure(p, c); err != nil {
		return nil, 0, err
	}
	o.Address = ip
	if p == ProviderVerbs {
		dev, err = ibv.Open(o)
	} else {
		dev, err = soft.Open(soft.Options{Listen: netip.AddrPortFrom(ip, 0).String(), TLS: c})
	}
	if err != nil {
		return nil, 0, tf.Errorf(tf.CodeOf(err), "Could not start the RDMA device: %v", tf.AsError(err).Message())
	}
	return dev, o.QueueDepth, nil
}

// checkSecure refuses what would send tensors in plain text though there is TLS, and
// certificates that tasks cannot show each other.
func checkSecure(provider string, c *tls.Config) error {
	switch {
	case c == nil:
	case provider == ProviderVerbs:
		return tf.Errorf(tf.FailedPrecondition, "tensors must not cross in plain text where TLS is set, and RDMA cards do not encrypt: RDMA needs the provider %q, or the server protocol %q, got protocol %q with provider %q",
			ProviderSoft, protocolGRPC, protocolVerbs, provider)
	case len(c.Certificates) == 0 && c.GetClientCertificate == nil:
		return tf.Errorf(tf.FailedPrecondition, "protocol %q under TLS needs a certificate that tasks show each other: Certificates or GetClientCertificate must be set", protocolVerbs)
	}
	return nil
}

// RDMAStats count what went over the connection to one task. Its fields are
//
//	Peer      string // the task
//	QPN       uint32 // the number of the queue pair
//	Batches   int64  // calls that posted requests
//	Completed int64  // completions that were handled, of requests and of what came
//	Sends     int64  // of pings
//	Messages  int64  // control messages
//	Acks      int64  // of these
//	Writes    int64  // of tensors, in pieces if they are long
//	Bytes     int64  // of tensors that were written
//	Waits     int64  // times that the queue was full
//	Credits   int64  // messages that returned credits
//	Unready   int64  // tensors that waited until the peer had a receive for them
//	Staged    int64  // tensors that were copied on their way, on either side
//	StagedLen int64  // bytes of them
//	RingFull  int64  // of those, times that one waited for room to be copied to
//	Received  int64  // tensors
//	Retries   int64  // requests that were repeated, with room for another tensor
type RDMAStats = verbs.Stats

// RDMAStats returns the counters of the connections that there are at present;
// none, if tensors do not go by RDMA.
func (s *Server) RDMAStats() []RDMAStats {
	if s.verbs == nil {
		return nil
	}
	return s.verbs.Stats()
}
