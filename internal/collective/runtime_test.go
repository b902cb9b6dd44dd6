package collective

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gorge-tf/gorge/internal/leaktest"
	"github.com/gorge-tf/gorge/internal/resource"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/pb"
)

func TestMain(m *testing.M) { leaktest.Main(m) }

// A place is a device of a test.
type place struct {
	spec        core.DeviceSpec
	incarnation uint64
}

func (p *place) Spec() core.DeviceSpec                         { return p.spec }
func (p *place) Incarnation() uint64                           { return p.incarnation }
func (p *place) MemoryLimit() int64                            { return 1 << 20 }
func (p *place) Resources() *resource.Manager                  { return nil }
func (p *place) FromHost(t *core.Tensor) (*core.Tensor, error) { return t, nil }
func (p *place) ToHost(t *core.Tensor) (*core.Tensor, error)   { return t, nil }

// A cluster is several tasks in this process, of two devices each, the first of
// which leads.
type cluster struct {
	t       *testing.T
	tasks   []string
	devices map[string]*place
	of      map[string]*Runtime // by task
}

func newCluster(t *testing.T, tasks int) *cluster {
	c := &cluster{t: t, devices: map[string]*place{}, of: map[string]*Runtime{}}
	for i := range tasks {
		c.start(i)
	}
	return c
}

// start starts a task, or another life of one.
func (c *cluster) start(i int) {
	spec := core.DeviceSpec{Job: "worker", Replica: 0, Task: i, Type: "CPU"}
	for id := range 2 {
		spec.ID = id
		p := c.devices[spec.String()]
		if p == nil {
			p = &place{spec: spec}
			c.devices[spec.String()] = p
		}
		c.devices[spec.String()] = &place{spec: spec, incarnation: p.incarnation + 1}
	}
	task, leader := spec.TaskName(), ""
	if i > 0 {
		leader = c.tasks[0]
	}
	if c.of[task] == nil {
		c.tasks = append(c.tasks, task)
	}
	c.of[task] = New(Env{Leader: leader, Lookup: c.lookup, Peer: func(task string) (Peer, error) { return wire{c.of[task]}, nil }, Patience: time.Minute})
}

func (c *cluster) lookup(name string) core.Device {
	if d := c.devices[name]; d != nil {
		return d
	}
	return nil
}

// wire makes a runtime the peer of others.
type wire struct{ *Runtime }

func (w wire) RecvBuf(ctx context.Context, req *pb.RecvBufRequest, into []byte) error {
	l, err := w.Runtime.RecvBuf(ctx, req)
	if err != nil {
		return err
	}
	defer l.Return()
	if copy(into, l.Bytes()) != len(into) {
		return core.Errorf(core.Internal, "too few bytes")
	}
	return nil
}

// do has a device do its part, in a step that ends with ctx.
func (c *cluster) do(ctx context.Context, task, device int, step int64, p core.Collective) error {
	name := core.DeviceSpec{Job: "worker", Replica: 0, Task: task, Type: "CPU", ID: device}.String()
	node := &core.Node{Name: "y"}
	oc := &core.OpContext{Step: &core.Step{ID: step, Context: ctx, Device: c.devices[name]}, Node: node}
	p.Name = "y"
	return c.of[c.tasks[task]].Do(oc, &p)
}

func vector(v ...float32) *core.Tensor {
	t, err := core.FromSlice(v, len(v))
	if err != nil {
		panic(err)
	}
	return t
}

// sum is a part in a reduction of all devices of two tasks.
func sum(size int, in *core.Tensor) core.Collective {
	return core.Collective{
		Kind: core.ReduceCollective, Group: core.CollectiveGroup{Key: 1, Size: size, Rank: -1}, Instance: 1, Merge: "Add", Final: "Id", MaxSubdivisions: -1,
		In: in, Out: core.NewTensor(core.Float32, in.Shape()),
	}
}

// all has all devices of all tasks reduce, and returns what they get.
func (c *cluster) all(ctx context.Context, step int64, shape func(i int) []float32) (out []*core.Tensor, errs []error) {
	n := 2 * len(c.tasks)
	out, errs = make([]*core.Tensor, n), make([]error, n)
	var wg sync.WaitGroup
	for i := range n {
		p := sum(n, vector(shape(i)...))
		out[i] = p.Out
		wg.Go(func() { errs[i] = c.do(ctx, i/2, i%2, step, p) })
	}
	wg.Wait()
	return out, errs
}

func TestTasksReduceTogether(t *testing.T) {
	c := newCluster(t, 3)
	for step := int64(1); step < 4; step++ {
		out, errs := c.all(t.Context(), step, func(i int) []float32 { return []float32{float32(i), 1, float32(step)} })
		for i := range out {
			if errs[i] != nil || !slices.Equal(core.Data[float32](out[i]), []float32{15, 6, float32(6 * step)}) {
				t.Errorf("step %d, device %d: %v, %v", step, i, out[i], errs[i])
			}
		}
		for _, task := range c.tasks {
			if n := c.of[task].Steps(); n != 0 {
				t.Errorf("%s still has %d steps", task, n)
			}
		}
	}
}

// The members of another task hear of shapes that differ, and the error is that of
// the member that has failed.
func TestShapesMustAgreeAcrossTasks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, 2)
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		_, errs := c.all(ctx, 1, func(i int) []float32 { return make([]float32, 2+i/3) })
		own := 0
		for _, err := range errs {
			if core.CodeOf(err) == core.InvalidArgument && strings.Contains(err.Error(), "Shape mismatch in the collective instance 1") && !core.AsError(err).Derived {
				own++
			}
		}
		if own == 0 {
			t.Errorf("shapes that differ give %v", errs)
		}
	})
}

// A task that has restarted meets the others again once they have noticed.
func TestRestartedTask(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, 2)
		ones := func(int) []float32 { return []float32{1, 2} }
		if _, errs := c.all(t.Context(), 1, ones); errs[0] != nil {
			t.Fatal(errs)
		}
		c.start(1)
		for step := int64(2); ; step++ {
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			out, errs := c.all(ctx, step, ones)
			cancel()
			for _, task := range c.tasks {
				c.of[task].Cleanup(step)
			}
			if errs[0] == nil && errs[3] == nil {
				if !slices.Equal(core.Data[float32](out[3]), []float32{4, 8}) {
					t.Errorf("after the restart: %v", out[3])
				}
				return
			}
			if step == 2 && !strings.Contains(fmt.Sprint(errs), "incarnation") {
				t.Errorf("a restarted task is told %v", errs)
			}
			if step > 5 {
				t.Fatalf("the tasks do not meet again: %v", errs)
			}
		}
	})
}

// One that gives up ends the waiting of the others, in this task and elsewhere;
// members that come again begin anew.
func TestGivingUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, 2)
		ctx, cancel := context.WithCancel(t.Context())
		failed := make(chan error, 3)
		p := sum(4, vector(1))
		for i := range 2 {
			go func() { failed <- c.do(t.Context(), i, 0, 1, sum(4, vector(1))) }()
		}
		go func() { failed <- c.do(ctx, 1, 1, 2, p) }()
		synctest.Wait()
		cancel()
		for range 3 {
			if err := <-failed; core.CodeOf(err) != core.Canceled {
				t.Errorf("who waits with one that gives up hears %v", err)
			}
		}
		for _, task := range c.tasks {
			c.of[task].Cleanup(1)
			c.of[task].Cleanup(2)
		}
		if out, errs := c.all(t.Context(), 3, func(int) []float32 { return []float32{1} }); errs[0] != nil || core.Data[float32](out[0])[0] != 4 {
			t.Errorf("the next attempt gives %v", errs)
		}
	})
}

func TestTimeouts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, 1)
		p := sum(2, vector(1, 2))
		p.Timeout = 3 * time.Second
		begin := time.Now()
		if err := c.do(t.Context(), 0, 0, 1, p); core.CodeOf(err) != core.DeadlineExceeded || core.AsError(err).Message() != waitingTooLong || time.Since(begin) != p.Timeout {
			t.Errorf("waiting for nobody: %v after %v", err, time.Since(begin))
		}
		// The other one comes to agree, but does not send.
		c.of[c.tasks[0]].Cleanup(1)
		go func() {
			g := core.CollectiveGroup{Key: 1, Size: 2, Rank: -1}
			_, _ = c.of[c.tasks[0]].group(t.Context(), 2, attributes(c.devices["/job:worker/replica:0/task:0/device:CPU:1"]), g)
		}()
		if err := c.do(t.Context(), 0, 0, 2, p); core.CodeOf(err) != core.DeadlineExceeded || core.AsError(err).Message() != workingTooLong {
			t.Errorf("working with nobody: %v", err)
		}
	})
}

// What a task asks for that is not run there comes to an end.
func TestPatience(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, 1)
		r := c.of[c.tasks[0]]
		d := c.devices["/job:worker/replica:0/task:0/device:CPU:0"]
		req := &pb.RecvBufRequest{StepId: 7, BufRendezvousKey: "k", SrcDevice: d.spec.String(), SrcIncarnation: d.incarnation}
		if _, err := r.RecvBuf(t.Context(), req); core.CodeOf(err) != core.Aborted || r.Steps() != 0 {
			t.Errorf("a value that does not come: %v, %d steps are left", err, r.Steps())
		}
		for name, c := range map[string]struct {
			req  *pb.RecvBufRequest
			code core.Code
			want string
		}{
			"another life": {&pb.RecvBufRequest{SrcDevice: d.spec.String(), SrcIncarnation: 99}, core.FailedPrecondition, "RecvBuf expects a different device incarnation: 99 vs. 1. Your worker job"},
			"nowhere":      {&pb.RecvBufRequest{SrcDevice: "/job:x"}, core.InvalidArgument, "/job:x unknown device."},
		} {
			if _, err := r.RecvBuf(t.Context(), c.req); core.CodeOf(err) != c.code || !strings.HasPrefix(core.AsError(err).Message(), c.want) {
				t.Errorf("%s: %v", name, err)
			}
		}
	})
}

// Masters count the steps of a graph alike, one after the other.
func TestStepSequences(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, 2)
		a, b := c.of[c.tasks[0]], c.of[c.tasks[1]]
		next := func(r *Runtime) int64 {
			id, err := r.NextStep(t.Context(), 5)
			if err != nil {
				t.Fatal(err)
			}
			return id
		}
		for i := range 4 {
			x, y := next(a), next(b)
			if x != y || x < 0 || x >= 1<<stepBits {
				t.Errorf("step %d has the numbers %d and %d", i, x, y)
			}
			a.RetireStep(5, x, i != 2)
			b.RetireStep(5, y, i != 2)
		}
		// A step waits for the one before.
		first := next(a)
		var second int64
		go func() { second = next(a); a.RetireStep(5, second, true) }()
		synctest.Wait()
		if second != 0 {
			t.Error("a step begins before the one before is over")
		}
		a.RetireStep(5, first, true)
		synctest.Wait()
		if second != first+1 {
			t.Errorf("%d is followed by %d", first, second)
		}
		if _, err := b.GetStepSequence(t.Context(), &pb.GetStepSequenceRequest{}); core.CodeOf(err) != core.Internal {
			t.Errorf("who does not lead says %v", err)
		}
	})
}

// No request crashes a leader, whatever is in it.
func TestBadRequests(t *testing.T) {
	c := newCluster(t, 1)
	r := c.of[c.tasks[0]]
	d := attributes(c.devices["/job:worker/replica:0/task:0/device:CPU:0"])
	for name, ask := range map[string]func() error{
		"no device": func() error {
			_, err := r.CompleteGroup(t.Context(), &pb.CompleteGroupRequest{GroupSize: 1})
			return err
		},
		"no size": func() error {
			_, err := r.CompleteGroup(t.Context(), &pb.CompleteGroupRequest{DeviceAttributes: d})
			return err
		},
		"a bad device": func() error {
			_, err := r.CompleteGroup(t.Context(), &pb.CompleteGroupRequest{GroupSize: 1, DeviceAttributes: &pb.DeviceAttributes{Name: "x"}})
			return err
		},
		"no group": func() error {
			_, err := r.CompleteInstance(t.Context(), &pb.CompleteInstanceRequest{GroupKey: 3})
			return err
		},
	} {
		if err := ask(); err == nil {
			t.Errorf("%s is no error", name)
		}
	}
	if _, err := r.CompleteGroup(t.Context(), &pb.CompleteGroupRequest{GroupSize: 1, DeviceType: "CPU", DeviceAttributes: d}); err != nil {
		t.Fatal(err)
	}
	if _, err := r.CompleteInstance(t.Context(), &pb.CompleteInstanceRequest{Device: "/job:x"}); core.CodeOf(err) != core.InvalidArgument {
		t.Errorf("an instance of a stranger: %v", err)
	}
}

// A member that comes when its step has ended does not take a complete group from the
// others: the leader would wait for members that know the group and never come again.
func TestCompleteGroupOutlivesSteps(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, 2)
		ones := func(int) []float32 { return []float32{1} }
		if _, errs := c.all(t.Context(), 1, ones); errs[0] != nil {
			t.Fatal(errs)
		}
		over, cancel := context.WithCancel(t.Context())
		cancel()
		for range 64 { // which of two ends is seen first is left to chance
			_ = c.do(over, 0, 0, 2, sum(4, vector(1)))
			c.of[c.tasks[0]].Cleanup(2)
		}
		ctx, stop := context.WithTimeout(t.Context(), time.Minute)
		defer stop()
		if out, errs := c.all(ctx, 3, ones); errs[0] != nil || core.Data[float32](out[0])[0] != 4 {
			t.Errorf("the next step gives %v", errs)
		}
	})
}

// So it is with the source of a broadcast that all have agreed on.
func TestSettledInstanceOutlivesSteps(t *testing.T) {
	var all instances
	g := &group{key: 1, size: 1}
	p := part{key: instanceKey{group: 1, instance: 1}, kind: core.BroadcastCollective, dtype: core.Float32, shape: core.Shape{1}, source: true}
	if source, err := all.agree(t.Context(), g, &p); source != 0 || err != nil {
		t.Fatal(source, err)
	}
	over, cancel := context.WithCancel(t.Context())
	cancel()
	for range 64 {
		_, _ = all.agree(over, g, &p)
	}
	if source, known := all.source(&p); source != 0 || !known {
		t.Errorf("the source is %d, known: %v", source, known)
	}
}
