package master

import (
	"cmp"
	"context"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/pb"
)

// filters describe the tasks and devices that a session sees; none: all.
type filters []core.DeviceSpec

func parseFilters(texts []string) (filters, error) {
	out := make(filters, len(texts))
	for i, f := range texts {
		d, err := core.ParseDevice(f)
		if err != nil {
			return nil, core.Errorf(core.InvalidArgument, "Skipping invalid filter: %s", f)
		}
		out[i] = d
	}
	return out, nil
}

// tasks returns the tasks that take part in a session: those that any of the
// filters describes, and the master's own.
func (f filters) tasks(all []string, own string) []string {
	return slices.DeleteFunc(slices.Clone(all), func(task string) bool { return task != own && !f.match(task) })
}

// devices leaves out what no filter describes of members other than the master's
// own task.
func (f filters) devices(members []member, own string) {
	for i := range members {
		if m := &members[i]; m.task != own {
			m.devices = slices.DeleteFunc(m.devices, func(d *pb.DeviceAttributes) bool { return !f.match(d.GetName()) })
		}
	}
}

// match reports whether any of the filters describes a task or a device.
func (f filters) match(name string) bool {
	if len(f) == 0 {
		return true
	}
	d, err := core.ParseDevice(name)
	return err == nil && slices.ContainsFunc(f, func(f core.DeviceSpec) bool {
		_, ok := f.Merge(d)
		return ok
	})
}

// A member is a task that takes part in a session.
type member struct {
	task    string
	worker  Worker
	devices []*pb.DeviceAttributes
}

// waitLogInterval is how often a master logs which workers it waits for.
const waitLogInterval = 10 * time.Second

// discover asks all tasks for their devices and waits until all have answered,
// however long that takes: tasks of a cluster start in any order.
func discover(ctx context.Context, workers Workers, tasks []string, log *slog.Logger) ([]member, error) {
	members, err := membersOf(workers, tasks)
	if err != nil {
		return nil, err
	}
	w := newWaiting(members)
	stop := w.logPeriodically(ctx, log)
	defer stop()
	whole := ctx
	ctx, cancel := early(whole)
	defer cancel()
	err = each(ctx, members, func(ctx context.Context, m *member) error {
		err := m.ask(ctx)
		if err == nil {
			w.done(m.task)
		}
		return err
	})
	if err != nil && ctx.Err() == context.DeadlineExceeded {
		return nil, core.Errorf(core.DeadlineExceeded, "CreateSession still waiting for response from worker: %s", strings.Join(w.lastWords(whole), ", "))
	}
	return members, err
}

// early returns a context that ends a little before ctx: the caller, which gives
// up then, is still there to hear which tasks have not answered.
func early(ctx context.Context) (context.Context, context.CancelFunc) {
	end, ok := ctx.Deadline()
	if !ok {
		return ctx, func() {}
	}
	return context.WithDeadline(ctx, end.Add(-min(time.Until(end)/10, time.Second)))
}

func membersOf(workers Workers, tasks []string) ([]member, error) {
	out := make([]member, len(tasks))
	for i, task := range tasks {
		w, err := workers.Worker(task)
		if err != nil {
			return nil, err
		}
		out[i] = member{task: task, worker: w}
	}
	return out, nil
}

// ask finds out which devices a task has. A task that was started under
// another name has its devices renamed.
func (m *member) ask(ctx context.Context) error {
	resp, err := m.worker.GetStatus(ctx, &pb.GetStatusRequest{})
	if err != nil {
		return err
	}
	for _, d := range resp.GetDeviceAttributes() {
		spec, err := core.ParseDevice(d.GetName())
		if err != nil {
			return core.Errorf(core.Internal, "Could not parse device name %s of worker %s", d.GetName(), m.task)
		}
		own, _ := core.ParseDevice(m.task)
		d.Name = spec.Override(own).String()
	}
	m.devices = resp.GetDeviceAttributes()
	return nil
}

// A reachable is a Worker that can say why it does not answer. Without a reason, a rejected
// certificate looks like a task that is not running.
type reachable interface {
	// Unreached returns why the worker cannot be reached, "" if that is not known
	// before ctx ends.
	Unreached(ctx context.Context) string
}

// waiting is the set of tasks that have not answered yet.
type waiting struct {
	mu    sync.Mutex
	tasks map[string]Worker
}

func newWaiting(members []member) *waiting {
	w := &waiting{tasks: make(map[string]Worker, len(members))}
	for _, m := range members {
		w.tasks[m.task] = m.worker
	}
	return w
}

func (w *waiting) done(task string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.tasks, task)
}

// logPeriodically logs every waitLogInterval which workers have not answered,
// until it is stopped.
func (w *waiting) logPeriodically(ctx context.Context, log *slog.Logger) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	var over sync.WaitGroup
	over.Go(func() {
		tick := time.NewTicker(waitLogInterval)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
				w.log(ctx, log)
			}
		}
	})
	return func() { cancel(); over.Wait() }
}

// names returns the tasks that have not answered, in order, each with the reason if one
// is found before ctx ends.
func (w *waiting) names(ctx context.Context) []string {
	w.mu.Lock()
	tasks := maps.Clone(w.tasks)
	w.mu.Unlock()
	names := slices.Sorted(maps.Keys(tasks))
	var asked sync.WaitGroup
	for i, task := range names {
		if r, ok := tasks[task].(reachable); ok {
			asked.Go(func() {
				if why := r.Unreached(ctx); why != "" {
					names[i] = task + " (" + why + ")"
				}
			})
		}
	}
	asked.Wait()
	return names
}

// lastWords returns the names when the time is nearly over: what is left of it is short,
// and the answer has to get to the caller, too.
func (w *waiting) lastWords(ctx context.Context) []string {
	if end, ok := ctx.Deadline(); ok {
		short, cancel := context.WithTimeout(ctx, time.Until(end)/2)
		defer cancel()
		ctx = short
	}
	return w.names(ctx)
}

func (w *waiting) log(ctx context.Context, log *slog.Logger) {
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	for _, task := range w.names(ctx) {
		log.Info("CreateSession still waiting for response from worker: " + task)
	}
}

// each calls f for all members at once and waits for the end of all calls. The
// first error cancels the others and is returned.
func each(ctx context.Context, members []member, f func(context.Context, *member) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	err := together(ctx, members, func(ctx context.Context, m *member) error {
		err := f(ctx, m)
		if err != nil {
			cancel(err) // only the first one counts
		}
		return err
	})
	return cmp.Or(context.Cause(ctx), err)
}

// together is like each, but a failure does not cancel the other calls.
func together(ctx context.Context, members []member, f func(context.Context, *member) error) error {
	var wg sync.WaitGroup
	errs := make(chan error, len(members))
	for i := range members {
		wg.Go(func() {
			if err := f(ctx, &members[i]); err != nil {
				errs <- err
			}
		})
	}
	wg.Wait()
	select {
	case err := <-errs:
		return err
	default:
		return context.Cause(ctx)
	}
}

// outlasting returns a context that ends some time after another one.
func outlasting(ctx context.Context, by time.Duration) (context.Context, context.CancelFunc) {
	longer, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() {
		late := time.NewTimer(by)
		defer late.Stop()
		select {
		case <-late.C:
			cancel(context.Cause(ctx))
		case <-longer.Done():
		}
	})
	return longer, func() { stop(); cancel(nil) }
}
