package xla

import (
	"slices"

	"github.com/gorge-tf/gorge/internal/memory"
	"github.com/gorge-tf/gorge/internal/stablehlo"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/pb"
)

func init() {
	thinRules["broadcast"] = broadcast
	thinRules["broadcast_in_dim"] = broadcastInDim
	thinRules["dynamic_broadcast_in_dim"] = broadcastInDim
	thinRules["constant"] = constant
	thinRules["iota"] = iotaRule
	thinRules["dynamic_iota"] = iotaRule
	thinRules["reshape"] = reshape
	thinRules["dynamic_reshape"] = reshape
	add(map[string]rule{
		"bitcast_convert": checked(1, bitcast), "transpose": checked(1, transpose), "concatenate": checked(1, concatenate),
		"reverse": widened(1, reverse), "get_dimension_size": checked(1, dimensionSize), "set_dimension_size": noDimensionSize,
	})
}

// constant is thin if one element stands for all.
func constant(l *lowering, op *stablehlo.Op, _ []thin) (thin, error) {
	v, ok := op.Attr("value").(stablehlo.Dense)
	if !ok {
		return thin{}, refused(op, "attribute value must be a constant tensor")
	}
	d, err := typeOf(op, v.Type)
	if err != nil {
		return thin{}, err
	}
	out := thin{shape: shapeOf(v.Type), nested: l.nested}
	p := &pb.TensorProto{Dtype: pb.DataType(d), TensorShape: core.ShapeProto(out.shape), TensorContent: v.Data}
	if v.Splat {
		p.TensorShape = &pb.TensorShapeProto{}
	} else {
		out.nested = -1
	}
	if !out.shape.Known() {
		return thin{}, refused(op, "its shape must be known")
	}
	t, err := l.tensor(p)
	if err != nil {
		return thin{}, refused(op, "%s", tf.AsError(err).Message())
	}
	out.x = ops.ConstValue(l.g, t)
	return out, nil
}

// What constants are copied out of a module: small ones, and large ones until they take
// maxCopied together. Loops read copies, which are aligned, up to a tenth faster; but the
// constants of a large module would be in memory twice.
const (
	leastView = 1 << 20
	maxCopied = 32 << 20
)

// tensor returns the tensor of a constant that p describes, over the memory of the module
// if it is not to be copied.
func (l *lowering) tensor(p *pb.TensorProto) (*core.Tensor, error) {
	d, b := tf.DType(p.GetDtype()), p.GetTensorContent()
	s, err := core.ShapeFromProto(p.GetTensorShape())
	copied := len(b) < leastView || l.copied+len(b) <= maxCopied
	if copied && len(b) >= leastView {
		l.copied += len(b)
	}
	if err != nil || copied || !memory.AnyAddress || d == tf.Bool || core.CheckSize(d, s) != nil || len(b) != s.NumElements()*d.Size() {
		return core.AdoptTensorProto(p)
	}
	return core.TensorOf(d, s, memory.WrapAnywhere(b)), nil
}

// operandsOf checks how many operands there are.
func operandsOf(op *stablehlo.Op, in []thin, n int) error {
	if len(in) != n {
		return refused(op, "it takes %d operands, got %d", n, len(in))
	}
	return nil
}

// broadcast adds dimensions before those of its operand.
func broadcast(l *lowering, op *stablehlo.Op, in []thin) (thin, error) {
	if err := operandsOf(op, in, 1); err != nil {
		return thin{}, err
	}
	return thin{x: in[0].x, nested: l.nested, shape: shapeOf(op.Results[0].Type), sizes: tf.Output{}}, staticResult(op)
}

func staticResult(op *stablehlo.Op) error {
	if !static(op.Results[0].Type) {
		return refused(op, "the shape of its result must be known")
	}
	return nil
}

// broadcastInDim puts the dimensions of its operand in given places of the result.
func broadcastInDim(l *lowering, op *stablehlo.Op, in []thin) (thin, error) {
	dynamic := op.Name == "dynamic_broadcast_in_dim"
	operands := 1
	if dynamic {
		operands = 2
	}
	if err := operandsOf(op, in, operands); err != nil {
		return thin{}, err
	}
	out := thin{shape: shapeOf(op.Results[0].Type), nested: l.nested}
	r := reading{op: op}
	dims := r.dims("broadcast_dimensions", len(out.shape))
	if r.err == nil && len(dims) != len(in[0].shape) {
		r.fail("attribute broadcast_dimensions must have %d elements, got %d", len(in[0].shape), len(dims))
	}
	if r.err != nil {
		return thin{}, r.err
	}
	if !out.shape.Known() {
		if !dynamic {
			return thin{}, staticResult(op)
		}
		out.sizes = indexOf(in[1].x)
	}
	if have := in[0].x.Shape(); len(have) > len(dims) {
		return thin{}, refused(op, "its operand must be of rank %d, got shape %v", len(dims), have)
	}
	out.x = l.spread(in[0].x, dims, len(in[0].shape), len(out.shape))
	return out, nil
}

// spread returns x, a thin value of a rank, with dimensions of size 1 so that its
// dimension i is number dims[i] of rank to. Leading ones are left out.
func (l *lowering) spread(x tf.Output, dims []int, rank, to int) tf.Output {
	have := len(x.Shape())
	dims = dims[rank-have:] // the dimensions that are left out are of size 1
	trailing := true
	for i, d := range dims {
		trailing = trailing && d == to-have+i
	}
	if trailing {
		return x
	}
	if !slices.IsSorted(dims) {
		order := make([]int, have)
		for i := range order {
			order[i] = i
		}
		slices.SortFunc(order, func(a, b int) int { return dims[a] - dims[b] })
		x = ops.Transpose(x, order)
		dims = slices.Sorted(slices.Values(dims))
	}
	sizes := slices.Repeat([]size{known(1)}, to-dims[0])
	for i, s := range l.sizes(x) {
		sizes[dims[i]-dims[0]] = s
	}
	return l.reshape(x, sizes)
}

// sizes returns the sizes of a tensor of known rank.
func (l *lowering) sizes(x tf.Output) []size {
	t := stablehlo.Type{Shape: make([]int64, len(x.Shape()))}
	for i, d := range x.Shape() {
		t.Shape[i] = int64(d)
	}
	return sizesOf(x, t)
}

// reshape gives x other sizes. One that is not known follows from the rest.
func (l *lowering) reshape(x tf.Output, sizes []size) tf.Output {
	unknown := 0
	v := make([]int, len(sizes))
	for i, s := range sizes {
		if v[i] = s.n; !s.known() {
			v[i] = -1
			unknown++
		}
	}
	if unknown <= 1 && (unknown == 0 || !slices.Contains(v, 0)) {
		return ops.Reshape(x, v)
	}
	return ops.Reshape(x, vector(l.g, sizes))
}

// reshape keeps what stands for all elements.
func reshape(l *lowering, op *stablehlo.Op, in []thin) (thin, error) {
	operands := 1
	if op.Name == "dynamic_reshape" {
		operands = 2
	}
	if err := operandsOf(op, in, operands); err != nil {
		return thin{}, err
	}
	out := thin{shape: shapeOf(op.Results[0].Type), nested: l.nested}
	if !out.shape.Known() {
		if operands == 1 {
			return thin{}, staticResult(op)
		}
		out.sizes = indexOf(in[1].x)
	}
	if t := in[0]; !t.isWhole() && t.x.Shape() != nil && len(t.x.Shape()) == 0 {
		if t.shape.Known() && out.shape.Known() && t.shape.NumElements() != out.shape.NumElements() {
			return thin{}, refused(op, "it takes %v elements, got %v", out.shape, t.shape)
		}
		out.x = t.x
		return out, nil
	}
	x, err := l.whole(op, op.Operands[0])
	if err != nil {
		return thin{}, err
	}
	out.nested = -1
	if out.shape.Known() {
		out.x = reshapedTo(x, []int(out.shape))
	} else {
		out.x = l.reshape(x, elementsOr(op.Operands[1], out.sizes, out.shape))
	}
	return out, nil
}

// reshapedTo gives x another shape. What x was before the same was done to it is taken
// instead where it serves.
func reshapedTo(x tf.Output, shape []int) tf.Output {
	if x.Err() == nil && x.Operation().OpName() == "Reshape" {
		if from := x.Operation().Input(0); from.Operation().ControlFlowContext() == x.Operation().ControlFlowContext() {
			x = from
		}
	}
	if s := x.Shape(); s != nil && slices.Equal(s, shape) {
		return x
	}
	return ops.Reshape(x, shape)
}

// elementsOr returns the sizes that a shape has, taking from a vector those that it
// does not know.
func elementsOr(v *stablehlo.Value, x tf.Output, s tf.Shape) []size {
	sizes := elements(v, x, len(s))
	for i, d := range s {
		if d >= 0 {
			sizes[i] = known(d)
		}
	}
	return sizes
}

// iotaRule counts along one dimension.
func iotaRule(l *lowering, op *stablehlo.Op, in []thin) (thin, error) {
	t := op.Results[0].Type
	d, err := typeOf(op, t)
	if err != nil {
		return thin{}, err
	}
	r := reading{op: op}
	out, dim := thin{shape: shapeOf(t), nested: l.nested}, r.int("iota_dimension", -1)
	if r.err == nil && (dim < 0 || dim >= len(out.shape)) {
		r.fail("attribute iota_dimension must be in [0, %d), got %d", len(out.shape), dim)
	}
	if r.err != nil {
		return thin{}, r.err
	}
	n := known(out.shape[dim])
	if !out.shape.Known() {
		if op.Name != "dynamic_iota" || len(in) != 1 {
			return thin{}, staticResult(op)
		}
		out.sizes = indexOf(in[0].x)
		n = elementsOr(op.Operands[0], out.sizes, out.shape)[dim]
	}
	out.x = l.counted(n, d, len(out.shape)-dim-1)
	return out, nil
}

// counted returns 0, 1, 2, …, n-1 with dimensions of size 1 after it.
func (l *lowering) counted(n size, d tf.DType, after int) tf.Output {
	count := tf.Int32
	if n.known() && n.n > 1<<31-1 || d == tf.Int64 {
		count = tf.Int64
	}
	var limit tf.Output
	if n.known() {
		limit = l.number(count, float64(n.n))
	} else {
		limit = ops.Cast(n.x, count)
	}
	x := tf.Apply(l.g, "Range", []tf.Output{l.number(count, 0), limit, l.number(count, 1)}).Output(0)
	if isSmall(d) {
		x = ops.Cast(x, tf.Float32)
	}
	if d != count {
		x = ops.Cast(x, d)
	}
	if after == 0 {
		return x
	}
	return l.reshape(x, append([]size{n}, slices.Repeat([]size{known(1)}, after)...))
}

func bitcast(l *lowering, op *stablehlo.Op, in []tf.Output) ([]tf.Output, error) {
	d, err := typeOf(op, op.Results[0].Type)
	if err != nil {
		return nil, err
	}
	if d == tf.Bool || in[0].DType().Base() == tf.Bool {
		return in[:1], nil
	}
	x := in[0]
	if isSmall(x.DType().Base()) {
		x = reread(x, tf.Uint8)
	}
	if isSmall(d) {
		return one(reread(bitcastTo(x, tf.Uint8), d)), nil
	}
	return one(bitcastTo(x, d)), nil
}

// bitcastTo adds a Bitcast if x is of another type.
func bitcastTo(x tf.Output, d tf.DType) tf.Output {
	if x.DType().Base() == d {
		return x
	}
	return ops.Bitcast(x, d)
}

// reread makes bytes floating-point numbers of 8 bits, or these bytes: Bitcast takes none.
func reread(x tf.Output, d tf.DType) tf.Output {
	return ops.Cast(x, d, tf.Attr("_bits", true))
}

func transpose(l *lowering, op *stablehlo.Op, in []tf.Output) ([]tf.Output, error) {
	r := reading{op: op}
	rank := len(op.Operands[0].Type.Shape)
	order := r.dims("permutation", rank)
	if r.err == nil && len(order) != rank {
		r.fail("attribute permutation must have %d elements, got %d", rank, len(order))
	}
	if r.err != nil {
		return nil, r.err
	}
	return []tf.Output{l.transposed(in[0], order)}, nil
}

// transposed adds a transposition unless the order is that of x.
func (l *lowering) transposed(x tf.Output, order []int) tf.Output {
	if slices.IsSorted(order) {
		return x
	}
	return ops.Transpose(x, order)
}

func concatenate(l *lowering, op *stablehlo.Op, in []tf.Output) ([]tf.Output, error) {
	r := reading{op: op}
	dim := r.int("dimension", 0)
	if rank := len(op.Operands[0].Type.Shape); r.err == nil && (dim < 0 || dim >= rank) {
		r.fail("attribute dimension must be in [0, %d), got %d", rank, dim)
	}
	if r.err != nil || len(in) == 1 {
		return in, r.err
	}
	return []tf.Output{ops.ConcatV2(in, ops.Scalar(l.g, int32(dim)))}, nil
}

func reverse(l *lowering, op *stablehlo.Op, in []tf.Output) ([]tf.Output, error) {
	r := reading{op: op}
	dims := r.dims("dimensions", len(op.Operands[0].Type.Shape))
	if r.err != nil || len(dims) == 0 {
		return in[:1], r.err
	}
	return []tf.Output{ops.ReverseV2(in[0], int32s(l.g, dims))}, nil
}

func dimensionSize(l *lowering, op *stablehlo.Op, in []tf.Output) ([]tf.Output, error) {
	r := reading{op: op}
	dim := r.int("dimension", 0)
	if rank := len(op.Operands[0].Type.Shape); r.err == nil && (dim < 0 || dim >= rank) {
		r.fail("attribute dimension must be in [0, %d), got %d", rank, dim)
	}
	if r.err != nil {
		return nil, r.err
	}
	return []tf.Output{sizesOf(in[0], op.Operands[0].Type)[dim].in(l.g)}, nil
}

func noDimensionSize(_ *lowering, op *stablehlo.Op, _ []tf.Output) ([]tf.Output, error) {
	return nil, unsupported(op, "tensors of bounded sizes are not supported")
}
