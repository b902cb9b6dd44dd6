package xla

import (
	"slices"

	"github.com/gorge-tf/gorge/internal/stablehlo"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/ops"
)

func init() {
	add(map[string]rule{
		"convolution":  checked(2, convolution),
		"dynamic_conv": checked(3, convolution),
	})
}

// A convolving is a convolution operation. Once x, w and the result are in order, they
// are [batch spatial... features], [spatial... inputs outputs] and like x.
type convolving struct {
	g  *tf.Graph
	op *stablehlo.Op

	xOrder, wOrder, yOrder []int // the dimensions of an operand or the result, in order

	strides, xDilation, wDilation []int
	reversed                      []int
	pads                          []padding // of spatial dimensions
	groups, batchGroups           int

	x, w   tf.Output
	xs, ws []size
}

func convolution(l *lowering, op *stablehlo.Op, in []tf.Output) ([]tf.Output, error) {
	c := &convolving{g: l.g, op: op}
	if err := c.read(in); err != nil {
		return nil, err
	}
	if err := c.take(in); err != nil {
		return nil, err
	}
	c.prepare()
	y, err := c.computed()
	if err != nil {
		return nil, err
	}
	return one(transposed(as(y, dtypes[op.Results[0].Type.Elem]), inverse(c.yOrder))), nil
}

// read reads the attributes.
func (c *convolving) read(in []tf.Output) error {
	rank := len(c.op.Operands[0].Type.Shape)
	if err := rankOf(c.op, 1, rank); err != nil || rank < 2 || len(c.op.Results) != 1 || len(c.op.Results[0].Type.Shape) != rank {
		return refused(c.op, "its operands and its result must have one rank of 2 or more, got %d and %d", rank, len(c.op.Operands[1].Type.Shape))
	}
	n := rank - 2
	r := &reading{op: c.op}
	c.xOrder = r.order(rank, []string{"input_batch_dimension"}, "input_spatial_dimensions", []string{"input_feature_dimension"})
	c.wOrder = r.order(rank, nil, "kernel_spatial_dimensions", []string{"kernel_input_feature_dimension", "kernel_output_feature_dimension"})
	c.yOrder = r.order(rank, []string{"output_batch_dimension"}, "output_spatial_dimensions", []string{"output_feature_dimension"})
	c.strides = r.atLeast("window_strides", r.intsOf("window_strides", n, 1), 1)
	c.xDilation = r.atLeast("lhs_dilation", r.intsOf("lhs_dilation", n, 1), 1)
	c.wDilation = r.atLeast("rhs_dilation", r.intsOf("rhs_dilation", n, 1), 1)
	c.groups, c.batchGroups = r.int("feature_group_count", 1), r.int("batch_group_count", 1)
	for i, v := range r.intsOf("window_reversal", n, 0) {
		if v != 0 {
			c.reversed = append(c.reversed, i)
		}
	}
	if c.groups < 1 || c.batchGroups < 1 || c.groups > 1 && c.batchGroups > 1 {
		r.fail("its groups must be positive, and those of features or of batches 1, got %d and %d", c.groups, c.batchGroups)
	}
	if r.err != nil {
		return r.err
	}
	return c.readPads(r, in, n)
}

// order reads the dimensions of an operand, which have to be all of them.
func (r *reading) order(rank int, before []string, spatial string, behind []string) []int {
	var order []int
	for _, name := range before {
		order = append(order, r.int(name, -1))
	}
	order = append(order, r.ints(spatial)...)
	for _, name := range behind {
		order = append(order, r.int(name, -1))
	}
	sorted := slices.Sorted(slices.Values(order))
	if !slices.Equal(sorted, without(rank)) {
		r.fail("dimensions must be 0 to %d in some order, got %v", rank-1, order)
	}
	return order
}

// readPads reads paddings: an attribute or, of dynamic convolutions, an operand.
func (c *convolving) readPads(r *reading, in []tf.Output, n int) error {
	if len(in) < 3 {
		for _, p := range r.pairs("padding", n) {
			c.pads = append(c.pads, padding{known(p[0]), known(p[1]), known(0)})
		}
		return r.err
	}
	t := c.op.Operands[2].Type
	if !slices.Equal(t.Shape, []int64{int64(n), 2}) || !isInteger(t.Elem) {
		return refused(c.op, "operand 2 must be integers of shape [%d 2], got %s of shape %v", n, t.Elem, t.Shape)
	}
	flat := eachElement(make([]*stablehlo.Value, 2*n), ops.Reshape(in[2], []int{2 * n}))
	if v, ok := constantInts(c.op.Operands[2]); ok {
		flat = knowns(v)
	}
	for i := range n {
		c.pads = append(c.pads, padding{flat[2*i], flat[2*i+1], known(0)})
	}
	return nil
}

// take puts the operands in order and checks how they fit.
func (c *convolving) take(in []tf.Output) error {
	c.x, c.xs = ordered(in[0], sizesOf(in[0], c.op.Operands[0].Type), c.xOrder)
	c.w, c.ws = ordered(in[1], sizesOf(in[1], c.op.Operands[1].Type), c.wOrder)
	n := len(c.pads)
	features, inputs, outputs := c.xs[n+1], c.ws[n], c.ws[n+1]
	if !features.known() || !inputs.known() || !outputs.known() {
		return unsupported(c.op, "its features must be known before it runs")
	}
	if inputs.n < 0 || features.n != inputs.n*c.groups {
		return refused(c.op, "the features of its input must be those of its kernel in each of %d groups, got %d and %d", c.groups, features.n, inputs.n)
	}
	if outputs.n%(c.groups*c.batchGroups) != 0 {
		return refused(c.op, "its groups must divide its outputs, got %d and %d", c.groups*c.batchGroups, outputs.n)
	}
	if b := c.xs[0]; b.known() && b.n%c.batchGroups != 0 {
		return refused(c.op, "its groups must divide its batch, got %d and %d", c.batchGroups, b.n)
	}
	return nil
}

func ordered(x tf.Output, sizes []size, order []int) (tf.Output, []size) {
	s := make([]size, len(order))
	for i, d := range order {
		s[i] = sizes[d]
	}
	return transposed(x, order), s
}

// prepare turns what TensorFlow's ops have no attribute for into operations of their own.
func (c *convolving) prepare() {
	d := productType(dtypes[c.op.Results[0].Type.Elem])
	c.x, c.w = as(c.x, d), as(c.w, d)
	if len(c.reversed) > 0 {
		c.w = ops.Reverse(c.w, c.reversed)
	}
	c.groupBatches()
}

// as casts x if it is of another type.
func as(x tf.Output, d tf.DType) tf.Output {
	if x.DType() == d {
		return x
	}
	return ops.Cast(x, d)
}

// groupBatches makes groups of batches groups of features.
func (c *convolving) groupBatches() {
	k, n := c.batchGroups, len(c.pads)
	if k == 1 {
		return
	}
	each := c.xs[0].over(k)
	split := append([]size{known(k), each}, c.xs[1:]...)
	order := append([]int{1}, without(n+2, 0, 1)...)
	order = append(order, 0, n+2)
	for i := range order[1 : n+1] {
		order[1+i] = 2 + i
	}
	c.x = ops.Transpose(shaped(c.g, c.x, split), order)
	c.xs = slices.Clone(c.xs)
	c.xs[0], c.xs[n+1] = each, known(k*c.xs[n+1].n)
	c.x = shaped(c.g, c.x, c.xs)
	c.groups, c.batchGroups = k, 1
}

// outputSizes returns the sizes of the spatial dimensions of the result.
func (c *convolving) outputSizes() []size {
	out := make([]size, len(c.pads))
	for i, p := range c.pads {
		p.interior = known(c.xDilation[i] - 1)
		n := padded(c.xs[1+i], p)
		reach := c.ws[i].minus(known(1)).times(known(c.wDilation[i])).plus(known(1))
		out[i] = n.minus(reach).over(c.strides[i]).plus(known(1)).max(known(0))
	}
	return out
}

// computed returns the convolution of operands in order.
func (c *convolving) computed() (tf.Output, error) {
	n := len(c.pads)
	y := append(append([]size{c.xs[0]}, c.outputSizes()...), c.ws[n+1])
	if c.empty(y) {
		zero, err := tf.ScalarOf(c.x.DType(), 0)
		if err != nil {
			return tf.Output{}, err
		}
		return ops.Fill(vector(c.g, y), ops.ConstTensor(c.g, zero)), nil
	}
	switch {
	case n <= 2 && c.hasKernel():
		return c.images(y), nil
	case n == 3 && c.x.DType() != tf.Int32 && c.hasKernel():
		return c.volumes(), nil
	}
	return c.positions(y)
}

// empty reports whether the result has no elements, or is a sum of none.
func (c *convolving) empty(y []size) bool {
	is0 := func(s size) bool { return s.is(0) }
	return slices.ContainsFunc(y, is0) || slices.ContainsFunc(c.xs, is0) || slices.ContainsFunc(c.ws, is0)
}

// hasKernel reports whether TensorFlow's ops convolve the type.
func (c *convolving) hasKernel() bool {
	return slices.Contains([]tf.DType{tf.Float16, tf.BFloat16, tf.Float32, tf.Float64, tf.Int32}, c.x.DType())
}

// padFirst pads x by itself: all there is, or only what an explicit padding cannot say.
// zero tells the paddings that are left apart.
func (c *convolving) padFirst(all bool) {
	p := make([]padding, len(c.xs))
	needed := false
	none := padding{known(0), known(0), known(0)}
	p[0], p[len(p)-1] = none, none
	for i, e := range c.pads {
		e.interior = known(c.xDilation[i] - 1)
		p[1+i] = none
		plain := e.low.known() && e.high.known() && e.low.n >= 0 && e.high.n >= 0 && e.interior.is(0)
		if all || !plain {
			p[1+i], c.pads[i] = e, none
			needed = needed || e != none
		}
		c.xDilation[i] = 1
	}
	if !needed {
		return
	}
	sizes := slices.Clone(c.xs)
	for i := range sizes {
		c.xs[i] = padded(sizes[i], p[i])
	}
	zero, _ := tf.ScalarOf(c.x.DType(), 0)
	c.x = padAll(c.g, c.x, sizes, ops.ConstTensor(c.g, zero), p)
}
