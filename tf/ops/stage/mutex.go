package stage

import (
	"context"
	"runtime"
	"sync"

	"github.com/gorge-tf/gorge/internal/handle"
	"github.com/gorge-tf/gorge/internal/queue"
	"github.com/gorge-tf/gorge/internal/resource"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

// A mutex is held by one lock at a time, in the order in which they ask.
type mutex struct {
	queue.Line
	held bool
}

var _ = resource.Declare[*mutex]("tensorflow::Mutex")

// A lock is the variant that holds a mutex, until it is consumed or its step
// is over.
type lock struct{ release func() }

func init() {
	register("MutexV2", "", "resource: resource", names, core.ScalarShape, func(n *core.Node) (core.Kernel, error) {
		return handle.Kernel(n, handle.Maker[*mutex]{New: func(string) (*mutex, error) { return &mutex{Line: queue.Line{InOrder: true}}, nil }}), nil
	})
	register("MutexLock", "mutex: resource", "mutex_lock: variant", "", core.ScalarShape, func(*core.Node) (core.Kernel, error) {
		return core.AsyncCompute(acquire), nil
	})
	register("ConsumeMutexLock", "mutex_lock: variant", "", "", anyShape, func(*core.Node) (core.Kernel, error) { return core.Compute(consume), nil })
}

// MutexOpts are the optional attributes of MutexV2: nodes of equal container and
// shared name are one mutex.
type MutexOpts struct{ Container, SharedName string }

// Apply sets the attributes.
func (o MutexOpts) Apply(s *tf.Spec) {
	s.Set("container", o.Container)
	s.Set("shared_name", o.SharedName)
}

// MutexV2 returns the handle of a mutex. The handle is a resource, a scalar. A
// container of characters other than letters, digits, dots, slashes and
// hyphens, and a shared name that begins with an underscore, are refused with
// INVALID_ARGUMENT in the step, a nil g when the graph is built.
// Its options are [MutexOpts].
func MutexV2(g *tf.Graph, opts ...tf.Option) tf.Output {
	return tf.Apply(g, "MutexV2", nil, opts...).Output(0)
}

// MutexLock waits until the mutex is free, and holds it until its result is
// consumed, or the step is over. The result is a variant, a scalar. Locks are
// given in the order in which they are asked for. A handle without a mutex is
// refused with NOT_FOUND in the step.
func MutexLock(mutex tf.Output, opts ...tf.Option) tf.Output {
	return tf.Apply(nil, "MutexLock", []tf.Output{mutex}, opts...).Output(0)
}

// ConsumeMutexLock gives the mutex free that a lock holds. What has to run
// before that is made its control inputs. What is no lock is refused with
// INVALID_ARGUMENT in the step.
func ConsumeMutexLock(lock tf.Output, opts ...tf.Option) *tf.Operation {
	return tf.Apply(nil, "ConsumeMutexLock", []tf.Output{lock}, opts...)
}

func acquire(c *core.OpContext, done func(error)) {
	m, err := handle.Find[*mutex](c, 0)
	if err != nil {
		done(err)
		return
	}
	ctx := c.StepContext()
	m.Wait(ctx, "MutexLock", func() (bool, error) {
		free := !m.held
		m.held = true
		return free, nil
	}, func(err error) {
		if err == nil {
			t := core.NewTensor(tf.Variant, tf.Shape{})
			t.Variants()[0].Value = m.locked(ctx)
			c.Set(0, t)
		}
		done(err)
	})
}

// locked returns a lock on the mutex, which is held. A step that fails does not
// consume it, nor does a graph without the op that would.
func (m *mutex) locked(ctx context.Context) *lock {
	release := sync.OnceFunc(func() { _ = m.Change(func() error { m.held = false; return nil }) })
	stop := context.AfterFunc(ctx, release)
	l := &lock{func() { stop(); release() }}
	runtime.AddCleanup(l, func(release func()) { release() }, release)
	return l
}

func consume(c *core.OpContext) error {
	v := c.Input(0).Variants()
	if len(v) == 1 {
		if l, ok := v[0].Value.(*lock); ok {
			l.release()
			return nil
		}
	}
	return tf.Errorf(tf.InvalidArgument, "Expected input to be a MutexLock")
}

// Close ends a mutex that cannot be found any more.
func (m *mutex) Close() { m.Line.Close(tf.Errorf(tf.Canceled, "the mutex is gone")) }
