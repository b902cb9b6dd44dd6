package cluster

import (
	"cmp"
	"context"
	"crypto/tls"
	"runtime/debug"
	"sort"
	"strings"
	"sync"
	"time"

	"github.com/gorge-tf/gorge/internal/remote"
	"github.com/gorge-tf/gorge/internal/rpc"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/pb"
	"github.com/gorge-tf/gorge/tf/session"
)

// DeviceInfo describes a device of a cluster.
type DeviceInfo struct {
	Name        string // "/job:worker/replica:0/task:0/device:CPU:0"
	Type        string
	MemoryLimit int64 // bytes
	Incarnation uint64
	// Transport says how tensors get from the device's task to others, if that is
	// not by gRPC.
	Transport string
}

// ListDevices lists the devices of the cluster that the server behind a target
// belongs to, sorted by name. It waits until all tasks of the cluster have
// answered the server, or ctx ends; a minute, as sessions do, if ctx has no deadline. The
// configuration is nil for plain text.
func ListDevices(ctx context.Context, target string, c *tls.Config) ([]DeviceInfo, error) {
	return listDevices(ctx, target, remote.DialConfig(c, nil))
}

func listDevices(ctx context.Context, target string, dial rpc.DialConfig) ([]DeviceInfo, error) {
	if err := core.NeedContext(ctx, "ListDevices"); err != nil {
		return nil, err
	}
	_, addr, ok := strings.Cut(target, "://")
	if !ok {
		return nil, tf.Errorf(tf.InvalidArgument, "a target must have the form grpc://host:port, got %q", target)
	}
	if err := remote.CheckAddress(addr); err != nil {
		return nil, err
	}
	conn, err := rpc.Dial(addr, dial)
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	ctx, cancel := bounded(ctx)
	defer cancel()
	resp, err := rpc.NewMasterClient(conn).ListDevices(ctx, &pb.ListDevicesRequest{})
	if err != nil {
		return nil, unanswered(ctx, conn, addr, err)
	}
	out := describe(append(resp.GetLocalDevice(), resp.GetRemoteDevice()...))
	sort.Slice(out, func(i, j int) bool { return out[i].Name < out[j].Name })
	return out, nil
}

// reasonTime is how long a server is asked once more whose time to answer is over.
const reasonTime = time.Second

// unanswered tells a server that cannot be reached from one that took too long: the call
// waits for both until ctx ends.
func unanswered(ctx context.Context, conn *rpc.Channel, addr string, err error) error {
	if ctx.Err() == nil {
		return err
	}
	ask, cancel := context.WithTimeout(context.WithoutCancel(ctx), reasonTime)
	defer cancel()
	if why := rpc.NewWorkerClient(conn).Unreached(ask); why != "" {
		return tf.Errorf(tf.Unavailable, "%s cannot be reached: %s", addr, why)
	}
	return &tf.Error{Code: tf.CodeOf(err), Msg: addr + " has not answered in time: " + tf.AsError(err).Message(), Err: context.Cause(ctx)}
}

// answerTime is how long servers are waited for without a deadline.
var answerTime = session.DefaultStartTimeout

// bounded returns a context that has a deadline.
func bounded(ctx context.Context) (context.Context, context.CancelFunc) {
	if _, ok := ctx.Deadline(); ok {
		return ctx, func() {}
	}
	return context.WithTimeout(ctx, answerTime)
}

func describe(list []*pb.DeviceAttributes) []DeviceInfo {
	out := make([]DeviceInfo, len(list))
	for i, d := range list {
		out[i] = DeviceInfo{Name: d.GetName(), Type: d.GetDeviceType(), MemoryLimit: d.GetMemoryLimit(), Incarnation: d.GetIncarnation(), Transport: d.GetPhysicalDeviceDesc()}
	}
	return out
}

// TaskStatus says how a task of a cluster was found.
type TaskStatus struct {
	Task    string // "/job:ps/replica:0/task:0"
	Address string
	Err     error         // why it did not answer; nil: it did
	Took    time.Duration // connecting and answering
	Version string        // of its Gorge; "" for other servers
	Devices []DeviceInfo
}

// Probe asks all tasks of a cluster at once whether they are there. It waits
// for none longer than until ctx ends, or a minute if ctx has no deadline.
func Probe(ctx context.Context, spec Spec, c *tls.Config) ([]TaskStatus, error) {
	return probe(ctx, spec, remote.DialConfig(c, nil))
}

func probe(ctx context.Context, spec Spec, dial rpc.DialConfig) ([]TaskStatus, error) {
	if err := core.NeedContext(ctx, "Probe"); err != nil {
		return nil, err
	}
	if err := spec.check(); err != nil {
		return nil, err
	}
	ctx, cancel := bounded(ctx)
	defer cancel()
	address := addressBook(spec)
	channels := rpc.NewChannels(address, dial)
	defer channels.Close()
	out := make([]TaskStatus, len(spec.tasks()))
	var wg sync.WaitGroup
	for i, task := range spec.tasks() {
		s := &out[i]
		s.Task = task
		s.Address, _ = address(task) // a task of the spec has one
		wg.Go(func() { s.probe(ctx, channels) })
	}
	wg.Wait()
	return out, nil
}

func (s *TaskStatus) probe(ctx context.Context, tasks rpc.WorkerCache) {
	w, err := tasks.Worker(s.Task)
	if err != nil {
		s.Err = err
		return
	}
	start := time.Now()
	resp, version, err := w.Probe(ctx)
	s.Took, s.Version, s.Err = time.Since(start), version, err
	s.Devices = describe(resp.GetDeviceAttributes())
}

// version is that of the module in this program.
func version() string {
	const module = "github.com/gorge-tf/gorge"
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "(unknown)"
	}
	for _, m := range append(info.Deps, &info.Main) {
		if m.Path == module {
			return cmp.Or(m.Version, "(devel)")
		}
	}
	return "(unknown)"
}
