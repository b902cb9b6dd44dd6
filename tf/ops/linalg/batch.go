package linalg

import (
	"slices"
	"sync"

	"github.com/gorge-tf/gorge/internal/kernel/elementwise"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

// A problem is what an op does with the matrices in the last two dimensions of
// its inputs. The other dimensions are those of a batch.
type problem struct {
	// matrices is the number of inputs that are matrices; those after them
	// are scalars.
	matrices int
	// broadcast says that batches are broadcast. Else they have to be equal.
	broadcast bool
	// unnumbered says that messages do not number the only input.
	unnumbered bool
	// check refuses matrices of the wrong shapes, and fit such as don't fit
	// together, if that is asked after the batches are known to.
	check, fit func(c *core.OpContext, s []tf.Shape) error
	// results returns the shapes of the results for one set of matrices:
	// matrices, vectors or scalars. An output beyond them is empty.
	results func(n *core.Node, s []tf.Shape) []tf.Shape
	// cost returns about how many multiplications a set takes.
	cost func(s []tf.Shape) int
}

// A solver computes the results for one set of matrices. It may overwrite
// them. Results hold anything before; vectors are rows.
type solver[I, O scalar] func(in []matrix[I], out []matrix[O]) error

// doubleMost is how many rows small matrices have at most.
const doubleMost = 64

// grain is about how many multiplications are worth a task of their own.
const grain = 64 << 10

// kernelOf makes the kernels of an op for types that are computed in I and O.
func kernelOf[I, O scalar](p *problem, solve func(n *core.Node) solver[I, O]) core.NewKernel {
	return func(n *core.Node) (core.Kernel, error) {
		f := solve(n)
		return core.Compute(func(c *core.OpContext) error { return solveAll(c, p, f) }), nil
	}
}

// solved makes the kernels of an op whose results have the type of its input.
func solved(p *problem, r func(*core.Node) solver[float64, float64], z func(*core.Node) solver[complex128, complex128]) map[tf.DType]core.NewKernel {
	by := map[tf.DType]core.NewKernel{}
	by[tf.Float32] = kernelOf(p, r)
	by[tf.Float64] = by[tf.Float32]
	if z != nil {
		by[tf.Complex64] = kernelOf(p, z)
		by[tf.Complex128] = by[tf.Complex64]
	}
	return by
}

// inSingle is solved for what computes float32 in float32, as TensorFlow does, but for small
// matrices: there float64, whose results are closer, takes no longer. LU alone, and what takes
// nothing else, is no faster in float32 at any size.
func inSingle(p *problem, s func(*core.Node) solver[float32, float32], r func(*core.Node) solver[float64, float64], z func(*core.Node) solver[complex128, complex128]) map[tf.DType]core.NewKernel {
	by := solved(p, r, z)
	by[tf.Float32] = func(n *core.Node) (core.Kernel, error) {
		single, double := s(n), r(n)
		return core.Compute(func(c *core.OpContext) error {
			if shape := c.Input(0).Shape(); len(shape) > 0 && shape[len(shape)-1] > doubleMost {
				return solveAll(c, p, single)
			}
			return solveAll(c, p, double)
		}), nil
	}
	return by
}

// withHalf adds the kernel for half floats: that for doubles.
func withHalf(by map[tf.DType]core.NewKernel) map[tf.DType]core.NewKernel {
	by[tf.Float16] = by[tf.Float64]
	return by
}

// always makes what a solver depends on nothing of.
func always[I, O scalar](s solver[I, O]) func(*core.Node) solver[I, O] {
	return func(*core.Node) solver[I, O] { return s }
}

// solveAll runs f on every set of matrices.
func solveAll[I, O scalar](c *core.OpContext, p *problem, f solver[I, O]) error {
	b, in, err := p.plan(c)
	if err != nil {
		return err
	}
	out := p.results(c.Node, in)
	if err := allocate(c, b.Shape, out); err != nil || b.Len == 0 {
		return err
	}
	for len(in) < c.Inputs() {
		in = append(in, tf.Shape{})
	}
	var first firstError
	c.ParallelFor(b.Len, max(1, grain/max(1, p.cost(in))), func(lo, hi int) {
		x, ofInputs := matricesOf[I](in, nil)
		y, ofResults := matricesOf[O](out, c.Out)
		defer ofInputs.Return()
		defer ofResults.Return()
		b.Runs(lo, hi, func(at int, off []int, n int) {
			for k := range n {
				load(c, x, off, b.Inner(), k)
				within(c, at+k, y)
				if err := f(x, y); err != nil {
					first.set(at+k, err)
					return
				}
				store(c, at+k, y)
			}
		})
	})
	return first.err
}

// allocate makes the outputs: results for every set of a batch, the others
// empty.
func allocate(c *core.OpContext, batch tf.Shape, results []tf.Shape) error {
	for i, d := range c.Node.OutTypes {
		s := tf.Shape{0}
		if i < len(results) {
			s = append(batch.Clone(), results[i]...)
		}
		if _, err := c.Alloc(i, d, s); err != nil {
			return err
		}
	}
	return nil
}

// firstError keeps the error of the first of many tasks.
type firstError struct {
	mu  sync.Mutex
	at  int
	err error
}

func (f *firstError) set(k int, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.err == nil || k < f.at {
		f.at, f.err = k, err
	}
}

// plan checks the inputs and returns how to walk the batch, and the shapes of
// the matrices.
func (p *problem) plan(c *core.OpContext) (b *elementwise.Broadcast, in []tf.Shape, err error) {
	if err := p.checkBatches(c); err != nil {
		return nil, nil, err
	}
	var batches [][]int
	for i := range p.matrices {
		s := c.Input(i).Shape()
		batches = append(batches, s[:len(s)-2])
		in = append(in, s[len(s)-2:])
	}
	if err := p.check(c, in); err != nil {
		return nil, nil, err
	}
	b, ok := elementwise.NewBroadcast(batches...)
	if !ok {
		return nil, nil, invalid("In[0] and In[1] must have compatible batch dimensions: %s vs. %s", c.Input(0).Shape().String(), c.Input(1).Shape().String())
	}
	if p.fit != nil {
		err = p.fit(c, in)
	}
	return b, in, err
}

// checkBatches checks the ranks of the inputs and, unless they are broadcast,
// that they have the same dimensions but for the matrices.
func (p *problem) checkBatches(c *core.OpContext) error {
	first := c.Input(0).Shape()
	for i := range p.matrices {
		s := c.Input(i).Shape()
		switch {
		case p.broadcast && len(s) < 2:
			return invalid("In[%d] ndims must be >= 2: %d", i, len(s))
		case p.broadcast:
		case len(first) < 2 && p.unnumbered:
			return invalid("Input tensor must have rank >= 2, got %d", len(s))
		case len(first) < 2:
			return invalid("Input tensor %d must have rank >= 2, got %d", i, len(s))
		case len(s) != len(first):
			return invalid("All input tensors must have the same rank.")
		case !slices.Equal(s[:len(s)-2], first[:len(s)-2]):
			return invalid("All input tensors must have the same outer dimensions.")
		}
	}
	return nil
}

// matricesOf lends memory for matrices of the given shapes; not for results that lie
// within the outputs.
func matricesOf[T scalar](shapes []tf.Shape, outputs []core.Slot) ([]matrix[T], *core.Loan) {
	out, size := make([]matrix[T], len(shapes)), 0
	for i, s := range shapes {
		m := &out[i]
		switch m.rows, m.cols = 1, 1; len(s) {
		case 0:
		case 1:
			m.cols = s[0]
		default:
			m.rows, m.cols = s[0], s[1]
		}
		m.stride = m.cols
		size += m.rows * m.cols
	}
	room, loan := core.Lend[T](size)
	for i := range out {
		if m := &out[i]; outputs == nil || outputs[i].T.DType() != core.TypeOf[T]() {
			n := m.rows * m.cols
			m.data, room = room[:n:n], room[n:]
		}
	}
	return out, loan
}

// load reads a set of matrices: those that are k steps from where off says. The
// inputs that off doesn't know of are scalars.
func load[T scalar](c *core.OpContext, x []matrix[T], off, step []int, k int) {
	for i, m := range x {
		set := 0
		if i < len(off) {
			set = off[i] + k*step[i]
		}
		elementwise.Cast(m.data, elements(c.Input(i), set*len(m.data), len(m.data)))
	}
}

// within puts set k of the results where the outputs have it, if these have their type.
func within[T scalar](c *core.OpContext, k int, y []matrix[T]) {
	for i, m := range y {
		if t := c.Out[i].T; t.DType() == core.TypeOf[T]() {
			y[i].data = core.Data[T](t)[k*m.rows*m.cols:][:m.rows*m.cols]
		}
	}
}

// store writes set k of the outputs, but for what lies within them.
func store[T scalar](c *core.OpContext, k int, y []matrix[T]) {
	for i, m := range y {
		if t := c.Out[i].T; t.DType() != core.TypeOf[T]() {
			elementwise.Cast(elements(t, k*len(m.data), len(m.data)), m.data)
		}
	}
}

var elementsOf = map[tf.DType]func(t *core.Tensor, at, n int) any{
	tf.Float16: sliceOf[tf.Half], tf.Float32: sliceOf[float32], tf.Float64: sliceOf[float64],
	tf.Complex64: sliceOf[complex64], tf.Complex128: sliceOf[complex128], tf.BFloat16: sliceOf[tf.BF16],
	tf.Int32: sliceOf[int32], tf.Int64: sliceOf[int64],
}

func sliceOf[T tf.Elem](t *core.Tensor, at, n int) any { return core.Data[T](t)[at : at+n] }

// elements returns n elements of t from number at on, as a slice of their type.
func elements(t *core.Tensor, at, n int) any { return elementsOf[t.DType()](t, at, n) }

// one checks that an op's single matrix may have any shape.
func one(*core.OpContext, []tf.Shape) error { return nil }

// square checks that an op's single matrix is square.
func square(_ *core.OpContext, s []tf.Shape) error {
	if s[0][0] != s[0][1] {
		return invalid("Input matrix must be square.")
	}
	return nil
}

// same gives the result the shape of the first matrix.
func same(_ *core.Node, s []tf.Shape) []tf.Shape { return s[:1] }

// cubic is the cost of what takes about k·n³ multiplications.
func cubic(k int) func(s []tf.Shape) int {
	return func(s []tf.Shape) int {
		m, n := s[0][0], s[0][1]
		return saturated(k*max(m, n), saturated(min(m, n), min(m, n)))
	}
}

// saturated returns a·b, at most what a cost need ever be.
func saturated(a, b int) int {
	if a > 0 && b > 1<<40/a {
		return 1 << 40
	}
	return a * b
}
