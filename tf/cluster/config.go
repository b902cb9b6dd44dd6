package cluster

import (
	"cmp"
	"context"
	"crypto/tls"
	"log/slog"
	"net"
	"strconv"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/gorge-tf/gorge/internal/rpc"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/pb"
	"github.com/gorge-tf/gorge/tf/session"
)

// Config says which task of which cluster a server is.
type Config struct {
	// Cluster has all tasks; Job and Task say which of them the server is. It
	// listens at the task's address unless Listener is given.
	Cluster Spec
	Job     string
	Task    int // number in the job, from 0
	// Protocol is how tasks exchange tensors: "grpc", or "" for the same, or
	// "grpc+verbs" by RDMA. All tasks of a cluster need the same.
	Protocol string
	// RDMA is about the protocol "grpc+verbs".
	RDMA RDMA
	// NoLinks keeps to gRPC. Without it, Gorge's clients and tasks make their
	// calls by links to the same port, which take less time and copy less;
	// TensorFlow's go by gRPC in any case.
	NoLinks bool
	// Devices says how many devices of each type the task has; one CPU if
	// there is nothing about CPUs.
	Devices map[string]int
	// Threads bounds the goroutines that one operation uses; 0, or more than GOMAXPROCS:
	// GOMAXPROCS.
	Threads int
	// Listener, if not nil, is where the server listens, instead of at its
	// address in the cluster. The server closes it.
	Listener net.Listener
	// TLS, if not nil, secures all connections of the server, those that it
	// accepts and those that it opens, also by the software provider of RDMA;
	// nil: plain text, as TensorFlow's servers. Other providers are refused.
	TLS *tls.Config
	// Security is TLS from files that may be replaced while the server runs, and
	// says who may call what; nil: there is none. It excludes TLS. The server does
	// not close it.
	Security *Security
	// AllowPeers names the addresses, "host:port" or patterns of them as [path.Match]
	// has them, that clusters may have which sessions bring along: the server opens
	// connections there. Those of its own cluster are always allowed; nil: all are.
	AllowPeers []string
	// Quotas bound what clients and peers may take.
	Quotas Quotas
	// Retries is how often the receive of a tensor is tried again whose sender
	// cannot be reached (TensorFlow's GRPC_MAX_RETRIES). It helps if the
	// sender caches responses.
	Retries int
	// CacheResponses keeps tensors that other tasks receive until they say that
	// they have arrived.
	CacheResponses bool
	// KeepAlive is how long another task or a client may be silent before it is
	// asked whether it is there, and KeepAliveTimeout how long it then may take
	// to answer: after that, what waits for it ends with Unavailable, and what
	// runs for it is given up. 0: 5 and 10 seconds; a negative KeepAlive: no peer
	// is asked. Servers of TensorFlow are asked half as often, and only while
	// something waits for them. What a task computes does not keep it from
	// answering.
	KeepAlive, KeepAliveTimeout time.Duration
	// SessionTimeout closes sessions that no client has used for so long; 0:
	// they stay until they are closed.
	SessionTimeout time.Duration
	// Limits bound what the graphs of clients may take; a field that is 0 means the
	// default. They are the server's: sessions cannot change them.
	Limits session.Limits
	// Grace is how long steps that are under way may go on when the server stops;
	// 0: they are cancelled at once.
	Grace time.Duration
	// ExitWith names a task of the cluster, "/job:worker/task:0": once it has been up and is
	// gone, the server stops. Parameter servers end so when the chief is done.
	ExitWith string
	// CollectiveLeader names the task, "/job:worker/task:0", that completes groups
	// for collective operations: the same for all tasks that take part in one. "":
	// each task completes those of its own devices.
	CollectiveLeader string
	// Observer is told of all calls that the server takes and makes; nil: none.
	Observer Observer
	// Log handles the server's log records; nil: nothing is logged.
	Log slog.Handler

	defaults *pb.ConfigProto // of sessions, from a ServerDef
}

// Local returns the configuration of a server that is the whole cluster: task
// 0 of job "localhost" at an address.
func Local(address string) Config {
	return Config{Cluster: Spec{"localhost": {address}}, Job: "localhost"}
}

// FromServerDef reads a serialized tensorflow.ServerDef, with which Python
// programs describe servers, into a configuration.
func FromServerDef(data []byte) (Config, error) {
	def := &pb.ServerDef{}
	if err := proto.Unmarshal(data, def); err != nil {
		return Config{}, tf.Errorf(tf.InvalidArgument, "a server definition must be a serialized tensorflow.ServerDef: %v", err)
	}
	spec, err := specFromProto(def.GetCluster())
	if err != nil {
		return Config{}, err
	}
	c := Config{Cluster: spec, Job: def.GetJobName(), Task: int(def.GetTaskIndex()), Protocol: def.GetProtocol(), defaults: def.GetDefaultSessionConfig()}
	if def.GetReplica() != 0 {
		return c, tf.Errorf(tf.Unimplemented, "a server must be of replica 0, got %d", def.GetReplica())
	}
	c.Threads = int(c.defaults.GetIntraOpParallelismThreads())
	c.Devices = devicesOf(c.defaults)
	c.CollectiveLeader = c.defaults.GetExperimental().GetCollectiveGroupLeader()
	c.CacheResponses = c.defaults.GetRpcOptions().GetCacheRpcResponse()
	return c, c.setPort(def.GetPort())
}

func devicesOf(cfg *pb.ConfigProto) map[string]int {
	out := map[string]int{}
	for typ, n := range cfg.GetDeviceCount() {
		if typ == "CPU" { // others are a wish, which TensorFlow ignores too
			out[typ] = int(n)
		}
	}
	return out
}

// setPort makes the server listen at another port than the cluster says.
func (c *Config) setPort(port int32) error {
	if port == 0 {
		return nil
	}
	addr, err := c.Cluster.Address(c.Job, c.Task)
	if err != nil {
		return err
	}
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return err
	}
	c.Cluster[c.Job][c.Task] = net.JoinHostPort(host, strconv.Itoa(int(port)))
	return nil
}

// check finds what cannot work, and returns the server's own address.
func (c *Config) check() (address string, err error) {
	if err := c.Cluster.check(); err != nil {
		return "", err
	}
	if c.Protocol != "" && c.Protocol != protocolGRPC && c.Protocol != protocolVerbs {
		return "", tf.Errorf(tf.NotFound, "No server factory registered for the given ServerDef: protocol \"%s\"\nThe available server factories are: [ %s, %s ]", c.Protocol, protocolGRPC, protocolVerbs)
	}
	if c.Retries < 0 || c.SessionTimeout < 0 || c.Grace < 0 {
		return "", tf.Errorf(tf.InvalidArgument, "retries, a session's timeout and the grace of steps must not be negative, got %d, %v and %v", c.Retries, c.SessionTimeout, c.Grace)
	}
	if c.KeepAliveTimeout < 0 {
		return "", tf.Errorf(tf.InvalidArgument, "the time to answer in must not be negative, got %v", c.KeepAliveTimeout)
	}
	if err := cmp.Or(c.checkExit(), c.checkSecurity(), c.Quotas.check()); err != nil {
		return "", err
	}
	return c.Cluster.Address(c.Job, c.Task)
}

// keepalive is how other tasks and clients are watched.
func (c *Config) keepalive() rpc.Keepalive {
	return rpc.Keepalive{Time: c.KeepAlive, Timeout: c.KeepAliveTimeout}
}

// listen opens the server's port, on the host that the cluster names only.
func (c *Config) listen(address string) (net.Listener, error) {
	if c.Listener != nil {
		return c.Listener, nil
	}
	var l net.ListenConfig
	lis, err := l.Listen(context.Background(), "tcp", address)
	if err != nil {
		return nil, tf.Errorf(tf.Unknown, "Could not start gRPC server: %v", err)
	}
	return lis, nil
}
