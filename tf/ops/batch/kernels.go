package batch

import (
	"cmp"
	"context"
	"math/rand/v2"
	"sync/atomic"

	"github.com/gorge-tf/gorge/internal/resource"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

// place is where a node's resource is.
type place struct{ container, name string }

func placeOf(n *core.Node) place {
	return place{n.Str("container"), cmp.Or(n.Str("shared_name"), n.Name)}
}

// at returns the resource of a place, which is made if there is none.
func at[T any](c *core.OpContext, p place, make func() T) (T, error) {
	if c.Step == nil || c.Resources == nil {
		return *new(T), tf.Errorf(tf.Internal, "a node that keeps a resource needs a resource manager")
	}
	return resource.LookupOrCreate(c.Resources, p.container, p.name, func() (T, error) { return make(), nil })
}

// request checks the first n inputs and makes a request of them; nil if they
// have no rows, for which the outputs are set.
func (l *limits) request(c *core.OpContext, n int, done func(error)) (*request, error) {
	for i := range n {
		switch t := c.Input(i); {
		case t.Rank() == 0:
			return nil, tf.Errorf(tf.InvalidArgument, "Batching input tensors must have at least one dimension.\nBelow are the input tensors: \n%s", shapes(c, n))
		case t.Dim(0) != c.Input(0).Dim(0):
			return nil, tf.Errorf(tf.InvalidArgument, "Batching input tensors supplied in a given op invocation must have equal 0th-dimension size.\nBelow are the input tensors: \n%s", shapes(c, n))
		}
	}
	switch size := c.Input(0).Dim(0); {
	case size == 0:
		for i := range c.Out {
			c.Set(i, core.NewTensor(c.Node.OutTypes[i], tf.Shape{0}))
		}
		return nil, nil
	case size > l.most:
		return nil, tf.Errorf(tf.InvalidArgument, "Task size %d is larger than maximum input batch size %d", size, l.most)
	}
	if parts := (c.Input(0).Dim(0) + l.rows - 1) / l.rows; parts > 1 {
		core.Room(parts * n * partSize) // rows may have no bytes
	}
	return newRequest(c, n, done), nil
}

// partSize is about what a part of a request takes besides its elements.
const partSize = 512

func shapes(c *core.OpContext, n int) (text string) {
	for i := range n {
		text += c.Node.Source(i) + ": " + c.Input(i).Shape().String() + "\n"
	}
	return text
}

// batching returns the kernel of a node the first inputs of which are put into
// batches. count tells how many. Requests whose function is not the same share no
// batch: sessions may have given the name of the resource to different ones.
func batching(n *core.Node, count int, f core.Func, process func(*limits, *batch)) (core.Kernel, error) {
	l, err := newLimits(n)
	if err != nil {
		return nil, err
	}
	if count == 0 {
		return nil, tf.Errorf(tf.InvalidArgument, "there must be inputs to put into batches")
	}
	p, queue := placeOf(n), n.Str("batching_queue")+"\x00"+f.Key()
	return core.AsyncCompute(func(c *core.OpContext, done func(error)) {
		b, err := at(c, p, func() *batcher {
			b := &batcher{limits: l, open: map[string]*batch{}}
			b.process = func(o *batch) { process(&b.limits, o) }
			return b
		})
		if err != nil {
			done(err)
			return
		}
		r, err := b.request(c, count, done)
		if r == nil {
			done(err)
			return
		}
		r.f = f
		if err := b.add(queue, r); err != nil {
			r.answer(func() error { return err })
		}
	}), nil
}

func batchKernel(n *core.Node) (core.Kernel, error) {
	return batching(n, len(n.TypesAttr("T")), core.Func{}, handOut)
}

// handOut gives the batch to the last of its requests, and nothing to the
// others.
func handOut(l *limits, o *batch) {
	in, err := o.joined(l)
	if err != nil {
		o.fail(err)
		return
	}
	index, row := core.NewTensor(tf.Int64, tf.Shape{len(o.tasks), 3}), 0
	for i, t := range o.tasks {
		t.id = rand.Int64()
		copy(core.Data[int64](index)[3*i:], []int64{t.id, int64(row), int64(row + t.rows)})
		row += t.rows
	}
	last := len(o.tasks) - 1
	for _, t := range o.tasks[:last] {
		var out []*core.Tensor
		for _, x := range t.in {
			out = append(out, rowsOf(x, 0, 0))
		}
		out = append(out, core.NewTensor(tf.Int64, tf.Shape{0, 3}), core.Scalar(t.id))
		t.answer(func() error { return t.c.SetAll(out) })
	}
	t := o.tasks[last]
	t.answer(func() error { return t.c.SetAll(append(in, index, core.Scalar(t.id))) })
}

// joined puts the inputs of all tasks together, filled up to a number of rows
// that is allowed.
func (o *batch) joined(l *limits) ([]*core.Tensor, error) {
	var out []*core.Tensor
	for i := range o.tasks[0].in {
		var parts []*core.Tensor
		for _, t := range o.tasks {
			if len(t.in) != len(o.tasks[0].in) {
				return nil, tf.Errorf(tf.InvalidArgument, "Batching inputs must have equal number of edges")
			}
			parts = append(parts, t.in[i])
		}
		x, err := joined(parts, l.padded(o.rows)-o.rows)
		if err != nil {
			return nil, err
		}
		out = append(out, x)
	}
	return out, nil
}

func functionKernel(n *core.Node) (core.Kernel, error) {
	return batching(n, len(n.TypesAttr("Tin")), n.FuncAttr("f"), call)
}

// call computes the function of a batch, as one of its requests would, and gives each
// its rows. It ends when all steps that wanted it have given up.
func call(l *limits, o *batch) {
	r := o.tasks[len(o.tasks)-1].request
	in, err := o.joined(l)
	if err == nil && r.functions == nil {
		err = tf.Errorf(tf.Internal, "No function library is provided.")
	}
	if err == nil {
		err = checkArgs(r.functions, r.f, len(in)+len(r.captured))
	}
	if err != nil {
		o.fail(err)
		return
	}
	ctx, cancel := o.wanted()
	defer cancel()
	finished := make(chan struct{})
	r.functions.Call(ctx, r.f, append(in, r.captured...), func(out []*core.Tensor, err error) {
		defer close(finished)
		if err == nil {
			err = o.divide(out, l.padded(o.rows))
		}
		if err != nil {
			o.fail(err)
		}
	})
	<-finished
}

// checkArgs checks that f takes n arguments, as far as c tells what f is.
func checkArgs(c core.FunctionCaller, f core.Func, n int) error {
	l, ok := c.(core.FunctionLibrary)
	if !ok || l.Library() == nil {
		return nil
	}
	def := l.Library().Find(f.Name)
	if def == nil {
		return tf.Errorf(tf.NotFound, "Failed to find definition for function %q", f.Name)
	}
	if want := len(def.GetSignature().GetInputArg()); want != n {
		return tf.Errorf(tf.InvalidArgument, "Function takes %d argument(s) but %d argument(s) were passed", want, n)
	}
	return nil
}

// wanted returns a context that ends with the last step that has rows in o.
func (o *batch) wanted() (context.Context, func()) {
	ctx, cancel := context.WithCancel(context.Background())
	var left atomic.Int64
	left.Store(int64(len(o.tasks)))
	stops := []func() bool{}
	for _, t := range o.tasks {
		stops = append(stops, context.AfterFunc(t.step, func() {
			if left.Add(-1) == 0 {
				cancel()
			}
		}))
	}
	return ctx, func() {
		for _, stop := range stops {
			stop()
		}
		cancel()
	}
}

// divide gives each task its rows of the results, of which there must be n.
func (o *batch) divide(out []*core.Tensor, n int) error {
	for _, y := range out {
		if y.Rank() == 0 {
			return tf.Errorf(tf.FailedPrecondition, "Batched output tensor has 0 dimensions")
		}
		if y.Dim(0) != n {
			return tf.Errorf(tf.FailedPrecondition, "Batched output tensor's 0th dimension does not equal the sum of the 0th dimension sizes of the input tensors. 0th dimension size: %d; batch size: %d; unbatched tasks size: 0; padding size: %d", y.Dim(0), o.rows, n-o.rows)
		}
	}
	row := 0
	for _, t := range o.tasks {
		var mine []*core.Tensor
		for _, y := range out {
			mine = append(mine, rowsOf(y, row, row+t.rows))
		}
		t.give(mine)
		row += t.rows
	}
	return nil
}
