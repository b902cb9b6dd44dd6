package ops

import (
	"github.com/gorge-tf/gorge/internal/kernel/layout"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/author"
	"github.com/gorge-tf/gorge/tf/core"
)

func init() {
	const types = "bool, bfloat16, half, float, double, complex64, complex128, string"
	core.Register(core.OpDef{
		Name: "ReverseV2", In: "tensor: T; axis: Tidx", Out: "output: T",
		Attrs: "Tidx: {int32, int64} = int32; T: {uint8, int8, uint16, int16, int32, uint32, int64, uint64, " + types + "}",
		Shape: reverseShape, Grad: reverseGrad("ReverseV2"), Kernels: core.ByType("T", sameFor(stateless(reverseAxes), dataTypes...)),
	})
	core.Register(core.OpDef{
		Name: "Reverse", In: "tensor: T; dims: bool", Out: "output: T",
		Attrs: "T: {uint8, int8, uint16, int16, uint32, int32, uint64, int64, " + types + "}",
		Shape: reverseShape, Grad: reverseGrad("Reverse"), Kernels: core.ByType("T", sameFor(stateless(reverseDims), dataTypes...)),
	})
	core.Register(core.OpDef{
		Name: "ReverseSequence", In: "input: T; seq_lengths: Tlen", Out: "output: T",
		Attrs: "seq_dim: int; batch_dim: int = 0; T: type; Tlen: {int32, int64} = int64",
		Shape: reverseSequenceShape, Grad: tf.GradFunc(reverseSequenceGrad), Kernels: core.ByType("T", sameFor(reverseSequence, dataTypes...)),
	})
	core.Register(core.OpDef{
		Name: "Roll", In: "input: T; shift: Tshift; axis: Taxis", Out: "output: T",
		Attrs: "T: type; Tshift: {int32, int64}; Taxis: {int32, int64}",
		Shape: core.UnchangedShape, Grad: tf.GradFunc(rollGrad), Kernels: core.ByType("T", sameFor(stateless(roll), objectTypes...)),
	})
}

// ReverseV2 returns x with the order of elements along the axes turned round.
// axes is a vector of int32 or int64; negative ones count from the end. x
// holds numbers, bools or strings, and the result has its shape. An axis out
// of range, or named twice, is refused in the step with INVALID_ARGUMENT;
// axes that are no vector are refused with the same code, when the graph is
// built if their rank is known, else in the step.
func ReverseV2(x, axes tf.Output, opts ...tf.Option) tf.Output {
	return apply("ReverseV2", opts, x, axes)
}

// Reverse returns x with the order of elements along axes turned round. It is
// ReverseV2 with axes that may be Go integers: types and errors are the same.
func Reverse[A tf.Ints](x tf.Output, axes A, opts ...tf.Option) tf.Output {
	return ReverseV2(x, author.AsInts(x, axes), opts...)
}

// ReverseSequenceOpts are the optional attributes of ReverseSequence: the
// dimension that tells sequences apart, the first by default.
type ReverseSequenceOpts struct{ BatchDim int }

// Apply sets the attributes.
func (o ReverseSequenceOpts) Apply(s *tf.Spec) { s.Set("batch_dim", o.BatchDim) }

// ReverseSequence turns round, for each batch, the first of the elements
// along dimension seqDim: as many as lengths says. x holds numbers, bools or
// strings, and the result has its shape; lengths is a vector of int32 or
// int64 with a number for each element of the batch dimension. A seqDim out
// of range or equal to the batch dimension is refused with INVALID_ARGUMENT,
// when the graph is built if the rank of x is known, else in the step.
// Lengths of another number or shape, negative ones, and those beyond
// dimension seqDim end the step with INVALID_ARGUMENT.
// Its options are [ReverseSequenceOpts].
func ReverseSequence(x, lengths tf.Output, seqDim int, opts ...tf.Option) tf.Output {
	return apply("ReverseSequence", tf.Join(opts, tf.Attr("seq_dim", seqDim)), x, lengths)
}

// Roll moves elements along axes by shifts; what leaves at the end comes in
// at the beginning. shift and axes are both scalars or vectors of one length;
// negative axes count from the end, negative shifts move to the beginning,
// and the shifts of an axis that occurs more than once add up. All bits of a
// shift count, where TensorFlow takes the last 32. x has one dimension or more
// and any type but the quantized ones; the result has its shape. A scalar x,
// shapes of shift and axes that differ, and an axis out of range are refused in the step with INVALID_ARGUMENT.
func Roll[S, A tf.Ints](x tf.Output, shift S, axes A, opts ...tf.Option) tf.Output {
	return apply("Roll", opts, x, author.AsInts(x, shift), author.AsInts(x, axes))
}

// mostReversed is how many dimensions TensorFlow's kernels have loops for.
const mostReversed = 8

func reverseShape(c *core.Infer) error {
	c.Set(0, c.In(0))
	if len(c.In(0)) > mostReversed {
		return tf.Errorf(tf.InvalidArgument, "reverse does not work on tensors with more than %d dimensions", mostReversed)
	}
	_, err := c.Rank(1, 1)
	return err
}

func reverseSequenceShape(c *core.Infer) error {
	c.Set(0, c.In(0))
	if s := c.In(0); s != nil {
		_, _, err := sequenceDims(c.Node, s)
		return err
	}
	return nil
}

func reverseGrad(op string) tf.GradFunc {
	return func(o *tf.Operation, dy []tf.Output) []tf.Gradient {
		return tf.Grads(apply(op, nil, dy[0], o.Input(1)), tf.Output{})
	}
}

func reverseSequenceGrad(op *tf.Operation, dy []tf.Output) []tf.Gradient {
	dx := ReverseSequence(dy[0], op.Input(1), op.Int("seq_dim"), ReverseSequenceOpts{op.Int("batch_dim")})
	return tf.Grads(dx, tf.Output{})
}

func rollGrad(op *tf.Operation, dy []tf.Output) []tf.Gradient {
	return tf.Grads(Roll(dy[0], Neg(op.Input(1)), op.Input(2)), tf.Output{}, tf.Output{})
}

func reverseAxes(c *core.OpContext) error {
	x, axes := c.Input(0), c.Input(1)
	if nothingToTurn(x) {
		c.Set(0, x.Share())
		return nil
	}
	if axes.Rank() != 1 {
		return tf.Errorf(tf.InvalidArgument, "'dims' must be 1-dimension, not %d", axes.Rank())
	}
	v, err := axes.Ints()
	if err != nil {
		return err
	}
	flip := make([]bool, x.Rank())
	for i, a := range v {
		at, ok := wrapAxis(a, x.Rank())
		if !ok {
			return tf.Errorf(tf.InvalidArgument, "'axis'[%d] = %d is out of valid range [0, %d", i, a, x.Rank()-1)
		}
		if flip[at] {
			return tf.Errorf(tf.InvalidArgument, "axis %d specified more than once.", at)
		}
		flip[at] = true
	}
	return flipped(c, flip)
}

// nothingToTurn reports whether x has one order only, whatever the axes: TensorFlow does not
// look at them then.
func nothingToTurn(x *core.Tensor) bool { return x.Rank() == 0 || x.Len() == 0 }

func reverseDims(c *core.OpContext) error {
	x, dims := c.Input(0), c.Input(1)
	if x.Rank() > 0 && x.Dim(0) == 0 {
		return tf.Errorf(tf.InvalidArgument, "Invalid input first dimension. Found 0.")
	}
	if dims.Rank() != 1 {
		return tf.Errorf(tf.InvalidArgument, "'dims' must be 1-dimension, not %d", dims.Rank())
	}
	if x.Rank() == 0 {
		c.Set(0, x.Share())
		return nil
	}
	if dims.Len() != x.Rank() {
		return tf.Errorf(tf.InvalidArgument, "'dims' must have the same number of values as 'input' has dimensions. 'input' has %d'dims' has %d values", x.Rank(), dims.Len())
	}
	return flipped(c, core.Data[bool](dims))
}

// flipped makes output 0 input 0 with the order along some dimensions turned
// round.
func flipped(c *core.OpContext, flip []bool) error {
	if len(flip) > mostReversed {
		return tf.Errorf(tf.Unimplemented, "reverse is not implemented for tensors of rank > %d.", mostReversed)
	}
	x := c.Input(0)
	out, err := c.Alloc(0, x.DType(), x.Shape())
	if err != nil || x.Len() == 0 {
		return err
	}
	if x.DType() == tf.String {
		turnCells[string](c, out, x, flip)
		return nil
	}
	switch x.DType().Size() {
	case 1:
		turnCells[uint8](c, out, x, flip)
	case 2:
		turnCells[uint16](c, out, x, flip)
	case 4:
		turnCells[uint32](c, out, x, flip)
	case 8:
		turnCells[uint64](c, out, x, flip)
	default:
		turnCells[complex128](c, out, x, flip)
	}
	return nil
}

// turnCells sets out to x with the order along some dimensions turned round.
func turnCells[C cell](c *core.OpContext, out, x *core.Tensor, flip []bool) {
	to, from := layout.Dense(x.Shape()), layout.Dense(x.Shape())
	for k, n := range x.Shape() {
		if flip[k] {
			from.Offset += (n - 1) * from.Steps[k]
			from.Steps[k] = -from.Steps[k]
		}
	}
	layout.CopyView(c.ParallelFor, cells[C](out), to, cells[C](x), from, x.Shape())
}

// fewCells are copied one by one in less time than together.
const fewCells = 8

// rearranged makes output 0 input 0 with index i of dimension k taken from
// index from(k, i), for the dimensions that change.
func rearranged(c *core.OpContext, from func(k, i int, s tf.Shape) int, changes func(k int) bool) error {
	x := c.Input(0)
	s := x.Shape()
	out, err := c.Alloc(0, x.DType(), s)
	if err != nil || x.Len() == 0 {
		return err
	}
	last := len(s)
	for last > 0 && !changes(last-1) {
		last--
	}
	put, run := move(out, x), product(s[last:])
	if run <= fewCells && last > 0 {
		last--
		few := run
		run = few * s[last]
		put = picker(out, x, run, func(i int) int { return from(last, i/few, s)*few + i%few })
	}
	c.ParallelFor(product(s[:last]), max(1, elementGrain/run), func(lo, hi int) {
		eachLine(s[:last], lo, hi, func(i int, at []int) {
			src := 0
			for k, v := range at {
				src = src*s[k] + from(k, v, s)
			}
			put(i*run, src*run, run)
		})
	})
	return nil
}

// eachLine calls f for the indices [lo, hi) of shape s, with where each is.
func eachLine(s tf.Shape, lo, hi int, f func(i int, at []int)) {
	at := make([]int, len(s))
	for k, rest := len(s)-1, lo; k >= 0; k-- {
		at[k], rest = rest%s[k], rest/s[k]
	}
	for i := lo; i < hi; i++ {
		f(i, at)
		for k := len(s) - 1; k >= 0; k-- {
			if at[k]++; at[k] < s[k] {
				break
			}
			at[k] = 0
		}
	}
}

// picker returns what copies n elements in another order: element i from from(i).
func picker(out, x *core.Tensor, n int, from func(int) int) func(d, s, n int) {
	order := core.Make[int](n)
	for i := range order {
		order[i] = from(i)
	}
	switch x.DType().Size() {
	case 1:
		return pickCells[uint8](out, x, order)
	case 2:
		return pickCells[uint16](out, x, order)
	case 4:
		return pickCells[uint32](out, x, order)
	case 8:
		return pickCells[uint64](out, x, order)
	}
	put := move(out, x)
	return func(d, s, _ int) {
		for i, k := range order {
			put(d+i, s+k, 1)
		}
	}
}

func pickCells[C cell](out, x *core.Tensor, order []int) func(d, s, n int) {
	z, v := cells[C](out), cells[C](x)
	return func(d, s, n int) {
		to, row := z[d:d+n], v[s:s+n]
		for i, k := range order {
			to[i] = row[k]
		}
	}
}

// sequenceDims returns the dimensions of sequences and batches.
func sequenceDims(n *core.Node, s tf.Shape) (seq, batch int, err error) {
	seq, batch = n.Int("seq_dim"), n.Int("batch_dim")
	switch {
	case batch < 0:
		err = tf.Errorf(tf.InvalidArgument, "Invalid batch_dim %d", batch)
	case seq < 0:
		err = tf.Errorf(tf.InvalidArgument, "Invalid seq_dim %d", seq)
	case seq == batch:
		err = tf.Errorf(tf.InvalidArgument, "batch_dim == seq_dim == %d", seq)
	case seq >= len(s):
		err = tf.Errorf(tf.InvalidArgument, "seq_dim must be < input rank ( %d vs. %d)", seq, len(s))
	case batch >= len(s):
		err = tf.Errorf(tf.InvalidArgument, "batch_dim must be < input rank ( %d vs. %d)", batch, len(s))
	}
	return seq, batch, err
}

func reverseSequence(n *core.Node) (core.Kernel, error) {
	return core.Compute(func(c *core.OpContext) error {
		x, lengths := c.Input(0), c.Input(1)
		s := x.Shape()
		if lengths.Rank() != 1 {
			return tf.Errorf(tf.InvalidArgument, "seq_lengths must be 1-dim, not %d", lengths.Rank())
		}
		seq, batch, err := sequenceDims(n, s)
		if err != nil {
			return err
		}
		if lengths.Len() != s[batch] {
			return tf.Errorf(tf.InvalidArgument, "Length of seq_lengths != input.dims(%d), (%d vs. %d)", batch, lengths.Len(), s[batch])
		}
		v, err := lengths.Ints()
		if err != nil {
			return err
		}
		for i, l := range v {
			if l < 0 {
				return tf.Errorf(tf.InvalidArgument, "seq_lens(%d) < 0", i)
			}
			if l > s[seq] {
				return tf.Errorf(tf.InvalidArgument, "seq_lens(%d) > input.dims(%d)", i, seq)
			}
		}
		return reverseFirst(c, v, seq, batch)
	}), nil
}

// reverseFirst turns round the first lengths[b] elements along dimension seq.
func reverseFirst(c *core.OpContext, lengths []int, seq, batch int) error {
	x := c.Input(0)
	s := x.Shape()
	out, err := c.Alloc(0, x.DType(), s)
	if err != nil || x.Len() == 0 {
		return err
	}
	last := max(seq, batch)
	put, run := move(out, x), product(s[last+1:])
	seqStep, batchStep := product(s[seq+1:last+1]), product(s[batch+1:last+1])
	for i := range product(s[:last+1]) {
		at, b := i/seqStep%s[seq], i/batchStep%s[batch]
		from := i
		if l := lengths[b]; at < l {
			from += (l - 1 - 2*at) * seqStep
		}
		put(i*run, from*run, run)
	}
	return nil
}

func roll(c *core.OpContext) error {
	x, shift, axis := c.Input(0), c.Input(1), c.Input(2)
	switch {
	case x.Rank() < 1:
		return tf.Errorf(tf.InvalidArgument, "input must be 1-D or higher")
	case shift.Rank() > 1:
		return tf.Errorf(tf.InvalidArgument, "shift must be a scalar or a 1-D vector. Found: %s", shift.Shape().String())
	case axis.Rank() > 1:
		return tf.Errorf(tf.InvalidArgument, "axis must be a scalar or a 1-D vector. Found: %s", axis.Shape().String())
	case !shift.Shape().Equal(axis.Shape()):
		return tf.Errorf(tf.InvalidArgument, "shift and axis must have the same size")
	}
	by, err := rollShifts(x.Shape(), shift, axis)
	if err != nil {
		return err
	}
	return rearranged(c, func(k, i int, s tf.Shape) int { return (i + s[k] - by[k]) % s[k] }, func(k int) bool { return by[k] != 0 })
}

// rollShifts returns by how much each dimension is moved, in [0, size).
func rollShifts(s tf.Shape, shift, axis *core.Tensor) ([]int, error) {
	shifts, err := shift.Ints()
	if err != nil {
		return nil, err
	}
	axes, err := axis.Ints()
	if err != nil {
		return nil, err
	}
	by := make([]int, len(s))
	for i, a := range axes {
		at, ok := wrapAxis(a, len(s))
		if !ok {
			return nil, tf.Errorf(tf.InvalidArgument, "axis %d is out of range", a)
		}
		if n := max(s[at], 1); n > 0 {
			by[at] = ((by[at]+shifts[i]%n)%n + n) % n
		}
	}
	return by, nil
}
