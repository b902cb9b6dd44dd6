package xla

import (
	"fmt"
	"strings"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/ops/linalg"
)

// The operations of this file are XLA's own, which programs of TensorFlow call by
// themselves: keras.ops.slice_update, by which language models write to the caches of
// their keys and values, is an XlaDynamicUpdateSlice. Their bodies need no more than the
// node: no shapes.
func init() {
	const index = "T: type; Tindices: {int32, int64}"
	register(core.OpDef{
		Name: "XlaDynamicUpdateSlice", In: "input: T; update: T; indices: Tindices", Out: "output: T", Attrs: index,
		Shape: updateShape, NoGrad: core.NoGradientDefined,
	}, updateAt)
	register(core.OpDef{
		Name: "XlaDynamicSlice", In: "input: T; start_indices: Tindices; size_indices: Tindices", Out: "output: T", Attrs: index,
		Shape: sliceShape, NoGrad: core.NoGradientDefined,
	}, sliceAt)
	register(core.OpDef{
		Name: "XlaEinsum", In: "a: T; b: T", Out: "product: T", Attrs: "equation: string; T: {complex64, bfloat16, float}",
		Shape: anyShape, Grad: tf.GradFunc(einsumGrad),
	}, func(n *core.Node, in []tf.Output) []tf.Output { return one(linalg.Einsum(n.Str("equation"), in)) })
	register(core.OpDef{
		Name: "XlaSharding", In: "input: T", Out: "output: T", Attrs: "T: type; sharding: string = ''; unspecified_dims: list(int) = []",
		Shape: core.UnchangedShape, Grad: tf.GradFunc(shardingGrad),
	}, func(_ *core.Node, in []tf.Output) []tf.Output { return one(ops.Identity(in[0])) })
	register(core.OpDef{
		Name: "XlaOptimizationBarrier", In: "input: T", Out: "output: T", Attrs: "T: list(type) >= 0",
		Shape: ownShapes, NoGrad: core.NoGradientDefined,
	}, func(_ *core.Node, in []tf.Output) []tf.Output { return ops.IdentityN(in) })
}

// register registers an operation that f puts in terms of others.
func register(d core.OpDef, f func(n *core.Node, in []tf.Output) []tf.Output) {
	d.Kernels = core.AnyType(core.CallBody)
	d.Body = func(n *core.Node, _ func(int) error) (*core.FunctionBody, error) {
		w := &builder{n: n, l: &lowering{g: tf.NewGraph()}}
		return w.direct(f)
	}
	core.Register(d)
}

// direct builds the body of a node by a function of its inputs.
func (w *builder) direct(f func(n *core.Node, in []tf.Output) []tf.Output) (*core.FunctionBody, error) {
	w.body.Name, w.body.ArgTypes, w.body.RetTypes = strings.ToLower(w.n.OpName()), w.n.InTypes, w.n.OutTypes
	in := make([]tf.Output, len(w.n.InTypes))
	for i, d := range w.n.InTypes {
		x := tf.Apply(w.l.g, "_Arg", nil, tf.Attr("T", d), tf.Attr("index", i), tf.Name(fmt.Sprintf("arg_%d", i)))
		w.body.Args, in[i] = append(w.body.Args, x.Name), x.Output(0)
	}
	for i, x := range f(w.n, in) {
		r := tf.Apply(w.l.g, "_Retval", []tf.Output{x}, tf.Attr("index", i), tf.Name(fmt.Sprintf("result_%d", i)))
		w.body.Rets = append(w.body.Rets, r.Name)
	}
	if err := w.l.g.Err(); err != nil {
		return nil, err
	}
	return &w.body, w.graph()
}

// within moves where a block of some size begins so that the block lies in x. Pack
// demands an index for each dimension.
func within(x, at, size tf.Output) tf.Output {
	shape := ops.Shape(x, ops.ShapeOpts{OutType: at.DType()})
	all := ops.Unpack(ops.Pack([]tf.Output{shape, size, at}), 3)
	return ops.Maximum(ops.Minimum(all[2], ops.Sub(all[0], all[1])), ops.ZerosLike(at))
}

// updateAt puts a block in the place of that part of x which begins at the indices.
func updateAt(_ *core.Node, in []tf.Output) []tf.Output {
	x, update := in[0], in[1]
	size := ops.Shape(update, ops.ShapeOpts{OutType: in[2].DType()})
	begin := within(x, in[2], size)
	return one(ops.TensorStridedSliceUpdate(x, begin, ops.Add(begin, size), ops.OnesLike(begin), update))
}

// sliceAt takes the block of x that begins at the indices.
func sliceAt(_ *core.Node, in []tf.Output) []tf.Output {
	return one(ops.Slice(in[0], within(in[0], in[1], in[2]), in[2]))
}

// updateShape is that of the input. An update has its rank, an index for each dimension.
func updateShape(c *core.Infer) error {
	x, update, at := c.In(0), c.In(1), c.In(2)
	c.Set(0, x)
	if x != nil && update != nil && len(x) != len(update) {
		return tf.Errorf(tf.InvalidArgument, "update must have the rank of input, %d, got %d", len(x), len(update))
	}
	return indicesFor(x, at)
}

// indicesFor checks that there is an index for each dimension.
func indicesFor(x, at tf.Shape) error {
	if x != nil && at != nil && (len(at) != 1 || at[0] >= 0 && at[0] != len(x)) {
		return tf.Errorf(tf.InvalidArgument, "indices must be a vector of %d elements, the rank of input, got shape %v", len(x), at)
	}
	return nil
}

func sliceShape(c *core.Infer) error {
	if size, ok := c.ConstInts(2); ok {
		c.Set(0, size)
	}
	return indicesFor(c.In(0), c.In(1))
}

func anyShape(*core.Infer) error { return nil }

// einsumGrad multiplies what comes with the other factor, as TensorFlow does: each
// factor must have no letter that the product and the other one lack.
func einsumGrad(op *tf.Operation, dy []tf.Output) []tf.Gradient {
	left, product, _ := strings.Cut(op.Str("equation"), "->")
	a, b, _ := strings.Cut(left, ",")
	return tf.Grads(
		linalg.Einsum(product+","+b+"->"+a, []tf.Output{dy[0], op.Input(1)}),
		linalg.Einsum(a+","+product+"->"+b, []tf.Output{op.Input(0), dy[0]}))
}

func shardingGrad(op *tf.Operation, dy []tf.Output) []tf.Gradient {
	return tf.Grads(tf.Apply(nil, "XlaSharding", dy, tf.Attr("sharding", op.Str("sharding"))).Output(0))
}
