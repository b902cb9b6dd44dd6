package ops

import (
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/author"
	"github.com/gorge-tf/gorge/tf/core"
)

// sumGrad repeats dy along the axes that were reduced.
func sumGrad(op *tf.Operation, dy []tf.Output) []tf.Gradient {
	return append(tf.Grads(repeatAlong(op, dy[0])), tf.Gradient{})
}

// repeatAlong returns dy, the gradient of a reduction's result, repeated to
// the shape of the reduction's input.
func repeatAlong(op *tf.Operation, dy tf.Output) tf.Output {
	x := op.Input(0)
	if axes, ok := constInts(op.Input(1)); ok && x.Shape() != nil {
		s := x.Shape()
		if isAllAxes(axes, len(s)) {
			ones := intVec(dy, tf.Int32, kept(s, axes)...)
			return Tile(Reshape(dy, ones), sizes(x))
		}
		if s.Known() {
			k := kept(s, axes)
			return Tile(Reshape(dy, intVec(dy, tf.Int32, k...)), intVec(dy, tf.Int32, multiples(s, k)...))
		}
	}
	shape := sizes(x)
	if !op.Bool("keep_dims") {
		dy = Reshape(dy, keptShape(shape, op.Input(1)))
	}
	return BroadcastTo(dy, shape)
}

// kept returns shape s with the size 1 at the axes given.
func kept(s tf.Shape, axes []int) tf.Shape {
	out := s.Clone()
	for _, a := range axes {
		if i, ok := wrapAxis(a, len(s)); ok {
			out[i] = 1
		}
	}
	return out
}

// multiples returns how often each dimension of from is repeated in to; the
// quotient of sizes 0 is 0.
func multiples(to, from tf.Shape) []int {
	out := make([]int, len(to))
	for i, d := range to {
		out[i] = d / max(1, from[i])
	}
	return out
}

// keptShape returns the vector shape with the size 1 at the given axes, when
// these are known at run time only.
func keptShape(shape, axes tf.Output) tf.Output {
	if s, ok := constInts(shape); ok {
		if a, ok := constInts(axes); ok {
			return intVec(shape, tf.Int32, kept(s, a)...)
		}
	}
	shape, axes = castTo(shape, tf.Int32), castTo(axes, tf.Int32)
	rank := Size(shape)
	axes = FloorMod(AddV2(axes, rank), rank)
	all := Range(nil, intScalar(shape, tf.Int32, 0), rank, intScalar(shape, tf.Int32, 1))
	ones := apply("Fill", nil, Shape(axes), intScalar(shape, tf.Int32, 1))
	return DynamicStitch([]tf.Output{all, axes}, []tf.Output{shape, ones})
}

// constInts returns the value of x if it is an integer constant.
func constInts(x tf.Output) ([]int, bool) {
	t := constTensor(x)
	if t == nil {
		return nil, false
	}
	v, err := t.Ints()
	return v, err == nil
}

// constTensor returns the value of x if it is known while the graph is built.
func constTensor(x tf.Output) *core.Tensor {
	if v, err := author.Computed(x); err == nil {
		return v
	}
	if op := x.Operation(); op != nil && op.OpName() == "Const" {
		return op.TensorAttr("value")
	}
	return nil
}

// meanGrad is sumGrad divided by the number of elements of one mean.
func meanGrad(op *tf.Operation, dy []tf.Output) []tf.Gradient {
	sum := repeatAlong(op, dy[0])
	return append(tf.Grads(RealDiv(sum, castTo(reducedCount(op, sum), sum.DType()))), tf.Gradient{})
}

// reducedCount returns how many elements make up one result of a reduction.
func reducedCount(op *tf.Operation, like tf.Output) tf.Output {
	in, out := op.Input(0).Shape(), op.Output(0).Shape()
	if in.Known() && out.Known() {
		return numberLike(like, float64(in.NumElements()/max(1, out.NumElements())))
	}
	shape := Shape(op.Input(0))
	rank := Size(shape)
	axes := castTo(op.Input(1), tf.Int32)
	axes = FloorMod(AddV2(axes, rank), rank)
	zero := intScalar(shape, tf.Int32, 0)
	return Prod(apply("GatherV2", nil, shape, axes, zero), allAxes(axes))
}

// allAxes returns all axes of x as a vector.
func allAxes(x tf.Output) tf.Output {
	s := x.Shape()
	if s == nil {
		zero, one := intScalar(x, tf.Int32, 0), intScalar(x, tf.Int32, 1)
		return Range(nil, zero, Rank(x), one)
	}
	axes := make([]int, len(s))
	for i := range axes {
		axes[i] = i
	}
	return intVec(x, tf.Int32, axes...)
}

// extremeGrad is the gradient of Max and Min: dy goes to the elements that
// are the extreme one, in equal parts.
func extremeGrad(op *tf.Operation, dy []tf.Output) []tf.Gradient {
	x, axes, y, dz := op.Input(0), op.Input(1), op.Output(0), dy[0]
	shape := sizes(y)
	if !op.Bool("keep_dims") {
		shape = keptShape(sizes(x), axes)
		y, dz = Reshape(y, shape), Reshape(dz, shape)
	}
	chosen := castTo(Equal(y, x), dz.DType())
	count := Reshape(Sum(chosen, axes), shape)
	return append(tf.Grads(Mul(RealDiv(chosen, count), dz)), tf.Gradient{})
}

// prodGrad: the derivative with respect to an element is the product of all
// others, which two cumulative products give without dividing: elements may
// be 0.
func prodGrad(op *tf.Operation, dy []tf.Output) []tf.Gradient {
	x, dz := op.Input(0), dy[0]
	shape := sizes(x)
	if !op.Bool("keep_dims") {
		dz = Reshape(dz, keptShape(shape, op.Input(1)))
	}
	dz = BroadcastTo(dz, shape)
	perm, size := reducedFirst(x, shape, op.Input(1))
	permuted := apply("Transpose", nil, x, perm)
	rows := Reshape(permuted, size)
	first := intScalar(x, tf.Int32, 0)
	left := Cumprod(rows, first, CumulativeOpts{Exclusive: true})
	right := Cumprod(rows, first, CumulativeOpts{Exclusive: true, Reverse: true})
	others := Reshape(Mul(conj(left), conj(right)), Shape(permuted))
	dx := Mul(dz, apply("Transpose", nil, others, apply("InvertPermutation", nil, perm)))
	return append(tf.Grads(Reshape(dx, shape)), tf.Gradient{})
}

// reducedFirst returns the permutation that brings the reduced axes of x to
// the front, and the sizes of the matrix that then has them as rows.
func reducedFirst(x, shape, axes tf.Output) (perm, size tf.Output) {
	zero, one := intScalar(x, tf.Int32, 0), intScalar(x, tf.Int32, 1)
	rank := Rank(x)
	axes = castTo(Reshape(axes, intVec(x, tf.Int32, -1)), tf.Int32)
	reduced := FloorMod(AddV2(axes, rank), rank)
	others, _ := ListDiff(Range(nil, zero, rank, one), reduced)
	perm = apply("ConcatV2", nil, reduced, others, zero)
	count := func(which tf.Output) tf.Output {
		return Prod(apply("GatherV2", nil, shape, which, zero), intVec(x, tf.Int32, 0))
	}
	return perm, apply("Pack", nil, count(reduced), count(others))
}
