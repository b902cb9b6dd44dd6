package eagerservice

import (
	"math"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gorge-tf/gorge/internal/rendezvous"
	"github.com/gorge-tf/gorge/internal/step"
	"github.com/gorge-tf/gorge/internal/worker"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/pb"
)

// A Context is what one client has in this task: the results of its operations,
// its functions, and a worker session with devices, variables and steps.
type Context struct {
	id         uint64
	client     string // that has made it
	session    *worker.Session
	rdv        *rendezvous.Remote // of operations, whose step is the context
	connect    func(*pb.ClusterDef) (Peers, error)
	handles    handles
	kernels    kernels
	components components
	spreads    spreads

	timeout   time.Duration // of parts of functions in other tasks; 0: none
	keepAlive time.Duration // 0: for ever
	used      atomic.Int64  // nanoseconds since 1970
	timer     *time.Timer

	mu      sync.Mutex
	closed  bool // it gets no other cluster
	view    uint64
	library *core.Library
	calls   map[string]*step.Calls // by device
	cluster cluster
	left    Peers // of the cluster before: calls may be under way
}

func (s *Service) newContext(req *pb.CreateContextRequest, client string) (*Context, error) {
	c := &Context{id: req.GetContextId(), client: client, view: req.GetContextViewId(), connect: s.env.Connect, keepAlive: duration(req.GetKeepAliveSecs(), time.Second), calls: map[string]*step.Calls{}}
	c.touch()
	def := req.GetServerDef()
	c.timeout = duration(def.GetDefaultSessionConfig().GetOperationTimeoutInMs(), time.Millisecond)
	var err error
	c.session, err = s.env.Worker.OpenSession(&pb.CreateWorkerSessionRequest{
		SessionHandle: sessionName(c.id), ServerDef: def, IsolateSessionState: def.GetDefaultSessionConfig().GetIsolateSessionState(),
	})
	if err != nil {
		return nil, err
	}
	if c.rdv, err = c.session.Stand(int64(c.id)); err == nil {
		err = c.join(def, req.GetClusterDeviceAttributes())
	}
	if err != nil {
		c.close(err)
		return nil, err
	}
	return c, nil
}

// duration is n units, which clients may choose to be more than a Duration holds; 0 if n
// is negative.
func duration(n int64, unit time.Duration) time.Duration {
	return time.Duration(min(max(n, 0), math.MaxInt64/int64(unit))) * unit
}

// viewID returns which of its clusters the context is in.
func (c *Context) viewID() uint64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.view
}

// touch notes that the client is there.
func (c *Context) touch() { c.used.Store(time.Now().UnixNano()) }

// watch has expired called when the client has not been heard of for too long. The
// caller holds Service.mu, so that close cannot run before the timer is set.
func (c *Context) watch(expired func()) {
	if c.keepAlive <= 0 {
		return
	}
	//lint:ignore S1021 the function calls itself
	var check func()
	check = func() {
		idle := time.Since(time.Unix(0, c.used.Load()))
		if idle >= c.keepAlive {
			expired()
			return
		}
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.timer != nil {
			c.timer.Reset(c.keepAlive - idle)
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.timer = time.AfterFunc(c.keepAlive, check)
}

// update moves the context to another cluster. Without devices the change does not
// concern this task.
func (c *Context) update(req *pb.UpdateContextRequest) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return notFound(c.id)
	}
	if req.GetContextViewId() != c.view+1 {
		return core.Errorf(core.InvalidArgument, "EagerService:UpdateContext failed. Context id: <%d> currently at view #%d but received update request at view #%d. View id should only be continuously incremented.",
			c.id, c.view, req.GetContextViewId())
	}
	if len(req.GetClusterDeviceAttributes()) > 0 {
		if err := c.session.Move(req.GetServerDef()); err != nil {
			return err
		}
		if err := c.joinLocked(req.GetServerDef(), req.GetClusterDeviceAttributes()); err != nil {
			return err
		}
	}
	c.view++
	return nil
}

// close ends what is under way, and drops all that the client has here.
func (c *Context) close(why error) {
	c.mu.Lock()
	c.closed = true
	if c.timer != nil {
		c.timer.Stop()
		c.timer = nil
	}
	peers := []Peers{c.cluster.peers, c.left}
	c.cluster, c.left = cluster{}, nil
	c.mu.Unlock()
	c.session.Close(why)
	c.handles.clear()
	for _, p := range peers {
		if p != nil {
			p.Close()
		}
	}
}

// device returns a device of the task, which may be named in part; "" is the
// first one.
func (c *Context) device(name string) (core.Device, error) {
	d, err := c.lookup(name)
	if err == nil && d == nil {
		err = core.Errorf(core.InvalidArgument, "%s unknown device.", name)
	}
	return d, err
}

// place is device for an operation, which clients know by another error.
func (c *Context) place(name string) (core.Device, error) {
	d, err := c.lookup(name)
	if err != nil || d != nil {
		return d, err
	}
	var types, names []string
	for _, d := range c.session.Devices().List() {
		names = append(names, d.Spec().String())
		if t := d.Spec().Type; !slices.Contains(types, t) {
			types = append(types, t)
		}
	}
	return nil, core.Errorf(core.InvalidArgument, "Could not satisfy device specification '%s'. enable_soft_placement=0. Supported device types [%s]. All available devices [%s].",
		name, strings.Join(types, ", "), strings.Join(names, ", "))
}

// lookup returns the first device of the task that a name, or a part of one, fits; nil:
// there is none.
func (c *Context) lookup(name string) (core.Device, error) {
	devices := c.session.Devices()
	if d := devices.Lookup(name); d != nil {
		return d, nil
	}
	want, err := core.ParseDevice(name)
	if err != nil {
		return nil, err
	}
	for _, d := range devices.List() {
		if want.Matches(d.Spec()) {
			return d, nil
		}
	}
	return nil, nil
}

// functions returns the functions that the client has registered by now.
func (c *Context) functions() *core.Library {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.library
}

// callsFrom returns what calls functions from a device.
func (c *Context) callsFrom(d core.Device) *step.Calls {
	name := d.Spec().String()
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.calls[name] == nil {
		c.calls[name] = c.session.Runtime().NewCalls(name, c.functions)
	}
	return c.calls[name]
}
