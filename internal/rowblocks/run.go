package rowblocks

import (
	"context"
	"fmt"
	"slices"
	"sync/atomic"

	"github.com/gorge-tf/gorge/internal/kernel"
	"github.com/gorge-tf/gorge/internal/kernel/gemm"
	"github.com/gorge-tf/gorge/tf/core"
)

// again counts the runs that began in blocks and were done on all rows then, for tests.
var again atomic.Int64

// A frame is what one run of a program has.
type frame struct {
	*program
	c       *core.OpContext
	byRows  []bool        // which inputs are read by rows
	cut     []core.Tensor // those rows of each that the block has
	vals    []core.Tensor // by number; without memory: not computed, or not needed any more
	out     []*core.Tensor
	rows    int // -1: not known
	lo, hi  int
	inPlace bool // an input has been written over
}

// compute is the kernel of a region.
func (p *program) compute(c *core.OpContext) error {
	f := &frame{program: p, c: c, rows: -1, byRows: make([]bool, len(p.inputs)), cut: make([]core.Tensor, len(p.inputs)),
		vals: make([]core.Tensor, len(p.vals)), out: make([]*core.Tensor, len(c.Out))}
	if f.countRows() && f.rows > f.blockRows() {
		err := f.blocks()
		switch {
		case err == nil:
			return nil
		case f.inPlace:
			return f.inRows(err)
		case c.StepContext().Err() != nil: // the step is cancelled: to run it on all rows is wasted work
			return stopped(c.StepContext())
		}
		f.forget()
		again.Add(1)
	}
	return f.atOnce()
}

// countRows finds how many rows there are. It reports whether all inputs that are read by
// rows have as many.
func (f *frame) countRows() bool {
	for i, in := range f.inputs {
		s := f.c.Input(i).Shape()
		switch {
		case in.reading == rows && len(s) > 0, in.reading == repeated && len(s) == in.rank && s[0] != 1:
			if f.rows >= 0 && f.rows != s[0] {
				return false
			}
			f.byRows[i], f.rows = true, s[0]
		case in.reading == rows, in.reading == repeated && len(s) > in.rank:
			return false
		}
	}
	return f.rows > 0
}

// inRows says in an error of a node which rows it is about.
func (f *frame) inRows(err error) error {
	e := *core.AsError(err)
	e.In = append(slices.Clone(e.In), fmt.Sprintf("rows %d:%d of %d", f.lo, f.hi, f.rows))
	return &e
}

// blockRows returns how many rows a block has.
func (f *frame) blockRows() int {
	weights := 0
	for i, by := range f.byRows {
		if !by {
			weights += f.c.Input(i).NumBytes()
		}
	}
	return f.blockOf(weights)
}

// errRows says that a value has not as many rows as a block: the nodes are run on all rows.
var errRows = core.Errorf(core.Internal, "a value of a block of rows has not as many rows")

// blocks runs all parts for one block after the other.
func (f *frame) blocks() error {
	n := f.blockRows()
	for f.lo = 0; f.lo < f.rows; f.lo = f.hi {
		f.hi = min(f.lo+n, f.rows)
		err := f.block()
		f.release()
		if err != nil {
			return err
		}
	}
	return nil
}

// stopped is the error of a step that has ended: not the one that explains it.
func stopped(ctx context.Context) error {
	return &core.Error{Code: core.Canceled, Msg: "Step was cancelled", Err: context.Cause(ctx), Derived: true}
}

func (f *frame) block() error {
	if ctx := f.c.StepContext(); ctx.Err() != nil {
		return stopped(ctx)
	}
	f.cutRows()
	for _, t := range f.parts {
		if err := f.run(t); err != nil {
			return err
		}
		for _, v := range t.ends {
			f.vals[v].Release()
		}
	}
	f.releaseCuts()
	return f.writeOutputs()
}

// cutRows makes views of the block's rows of all inputs.
func (f *frame) cutRows() {
	for i, by := range f.byRows {
		if !by {
			continue
		}
		t := f.c.Input(i)
		s := t.Shape().Clone()
		row := t.NumBytes() / s[0]
		s[0] = f.hi - f.lo
		f.cut[i].Reuse(t.DType(), s, t.Buffer().Sub(f.lo*row, s[0]*row), nil)
	}
}

func (f *frame) releaseCuts() {
	for i := range f.cut {
		f.cut[i].Release()
	}
}

// release gives back what a block holds.
func (f *frame) release() {
	f.releaseCuts()
	for i := range f.vals {
		f.vals[i].Release()
	}
}

// forget gives back outputs in parts.
func (f *frame) forget() {
	for i := range f.c.Out {
		if f.out[i] != nil {
			f.out[i].Release()
		}
		f.c.Out[i], f.out[i] = core.Slot{}, nil
	}
}

// run runs one part for the block.
func (f *frame) run(t *part) error {
	switch {
	case t.kind == view:
		return f.view(t)
	case t.kind == sum && t.product:
		return f.sumProducts(t)
	}
	if err := f.call(t, false); err != nil {
		return err
	}
	if t.kind == sum {
		return f.sum(t)
	}
	for v := t.first; v < t.first+t.outs; v++ {
		if s := f.vals[v].Shape(); f.vals[v].Buffer() == nil || len(s) == 0 || s[0] != f.hi-f.lo {
			return errRows
		}
	}
	return nil
}

// call runs the kernel of a part.
func (f *frame) call(t *part, all bool) error {
	in, last := make([]core.Slot, len(t.in)), make([]bool, len(t.in))
	for i, s := range t.in {
		in[i].T, last[i] = f.read(s, all), s.last
	}
	out, scratch := make([]core.Slot, t.outs), make([]*core.Tensor, t.outs)
	for i := range scratch {
		scratch[i] = &f.vals[t.first+i]
	}
	c := core.OpContext{Step: f.c.Step, Node: t.node, In: in, Out: out, FrameID: f.c.FrameID, Iteration: f.c.Iteration, Scratch: scratch, Pool: f.c.Pool, Last: last}
	if err := t.compute.Run(&c); err != nil {
		return core.AtNode(err, t.node, c.Describe())
	}
	for i := range out {
		if t := out[i].T; t != nil && t != scratch[i] { // a kernel may make its own
			scratch[i].Reuse(t.DType(), t.Shape(), t.Buffer().Ref(), nil)
			t.Release()
		}
	}
	return nil
}

// read returns what a part reads; all says that it reads all rows.
func (f *frame) read(s source, all bool) *core.Tensor {
	switch {
	case !s.outside:
		return &f.vals[s.value]
	case all:
		return f.c.Input(s.value)
	case s.instead != nil:
		return s.instead
	case f.byRows[s.value]:
		return &f.cut[s.value]
	}
	return f.c.Input(s.value)
}

// view gives the memory that a part reads its own shape.
func (f *frame) view(t *part) error {
	x, tail := f.read(t.in[0], false), f.program.vals[t.first].tail
	s := append(core.Shape{f.hi - f.lo}, tail...)
	if x.NumBytes() != s.NumElements()*x.DType().Size() || t.asked && f.lo == 0 && !f.asked(t, x.Shape(), tail) {
		return errRows
	}
	f.vals[t.first].Reuse(x.DType(), s, x.Buffer().Ref(), nil)
	return nil
}

// asked reports whether a node that an input tells the shape is asked for all rows and for tail.
func (f *frame) asked(t *part, x, tail core.Shape) bool {
	want, err := f.c.Input(t.in[1].value).Ints()
	if err != nil || len(want) != 1+len(tail) {
		return false
	}
	open := 0
	for i, d := range want {
		switch {
		case d == -1:
			open++
		case i == 0 && d != f.rows, i > 0 && d != tail[i-1]:
			return false
		}
	}
	if t.node.Def.Has(core.View) {
		return open <= 1
	}
	return open == 0 && x[1:].Equal(tail) // BroadcastTo computes no size, and leaves the others as they are
}

// sumProducts adds the product of a block's rows to the sum.
func (f *frame) sumProducts(t *part) error {
	a, b := f.read(t.in[0], false), f.read(t.in[1], false)
	if a.Rank() != 2 || b.Rank() != 2 || a.Dim(0) != b.Dim(0) || a.Len() == 0 || b.Len() == 0 {
		return errRows
	}
	out := f.program.vals[t.first].out
	g := gemm.NewGemm(a.Dim(1), b.Dim(1), a.Dim(0), true, false)
	g.Accumulate = f.out[out] != nil
	z, err := f.sumOf(out, a.DType(), core.Shape{g.M, g.N})
	if err != nil {
		return err
	}
	if a.DType() == core.Float32 {
		gemm.MatMul(f.c.ParallelFor, g, core.Data[float32](z), core.Data[float32](a), core.Data[float32](b), gemm.Epilogue[float32]{})
	} else {
		gemm.MatMul(f.c.ParallelFor, g, core.Data[float64](z), core.Data[float64](a), core.Data[float64](b), gemm.Epilogue[float64]{})
	}
	return nil
}

// sumOf returns the memory of a sum, which the first block allocates.
func (f *frame) sumOf(out int, d core.DType, s core.Shape) (*core.Tensor, error) {
	if f.out[out] == nil {
		z, err := f.c.Alloc(out, d, s)
		if err != nil {
			return nil, err
		}
		f.out[out] = z
	}
	return f.out[out], nil
}

// sum adds what a part has computed for the block to the sum.
func (f *frame) sum(t *part) error {
	x, out := &f.vals[t.first], f.program.vals[t.first].out
	begins := f.out[out] == nil
	z, err := f.sumOf(out, x.DType(), x.Shape())
	switch {
	case err != nil:
		return err
	case begins:
		err = x.CopyTo(z)
	default:
		err = addTo(z, x)
	}
	x.Release()
	return err
}

// addTo adds the elements of x to those of z.
func addTo(z, x *core.Tensor) error {
	if z.Len() != x.Len() {
		return errRows
	}
	switch z.DType() {
	case core.Float32:
		add(core.Data[float32](z), core.Data[float32](x))
	case core.Float64:
		add(core.Data[float64](z), core.Data[float64](x))
	default:
		return errRows
	}
	return nil
}

func add[T float32 | float64](z, x []T) {
	for i, v := range x {
		z[i] += v
	}
}

// writeOutputs copies the rows of the block to where the whole lies.
func (f *frame) writeOutputs() error {
	for i, v := range f.program.vals {
		if v.out < 0 || v.sum {
			continue
		}
		x := &f.vals[i]
		z, err := f.wholeOf(v.out, x)
		if err != nil {
			return err
		}
		n := x.NumBytes() / (f.hi - f.lo)
		to, from := z.Buffer().Bytes()[f.lo*n:][:x.NumBytes()], x.Buffer().Bytes()
		f.c.ParallelFor(len(to), 4*kernel.ElementGrain, func(lo, hi int) { copy(to[lo:hi], from[lo:hi]) })
		x.Release()
	}
	return nil
}

// wholeOf returns the memory of an output, which the first block allocates: that of an input
// of this size that nothing else reads, if there is one. Its rows have been read by then.
func (f *frame) wholeOf(out int, x *core.Tensor) (*core.Tensor, error) {
	if f.out[out] != nil {
		return f.out[out], nil
	}
	s := x.Shape().Clone()
	s[0] = f.rows
	for i := range f.byRows {
		if t := f.c.Input(i); f.mayWriteOver(i) && t.NumBytes() == s.NumElements()*x.DType().Size() {
			z, err := f.c.AllocFrom(i, out, x.DType(), s)
			f.out[out], f.inPlace = z, err == nil
			return z, err
		}
	}
	z, err := f.c.Alloc(out, x.DType(), s)
	f.out[out] = z
	return z, err
}

// mayWriteOver reports whether an input is read by rows only.
func (f *frame) mayWriteOver(i int) bool {
	if !f.byRows[i] || f.c.Last == nil || !f.c.Last[i] {
		return false
	}
	b := f.c.Input(i).Buffer()
	for k := range f.inputs {
		if k != i && f.c.Input(k).Buffer() == b {
			return false
		}
	}
	return b.Sole()
}

// atOnce runs the nodes one after the other, for all rows.
func (f *frame) atOnce() error {
	defer f.release()
	for _, t := range f.parts {
		if err := f.call(t, true); err != nil {
			return err
		}
		for i := t.first; i < t.first+t.outs; i++ {
			if v := f.program.vals[i]; v.out >= 0 {
				f.c.ShareShape(v.out, &f.vals[i], f.vals[i].Shape())
			}
		}
		for _, v := range t.ends {
			f.vals[v].Release()
		}
	}
	return nil
}
