package ops

import (
	"fmt"
	"strings"

	"github.com/gorge-tf/gorge/internal/kernel"
	"github.com/gorge-tf/gorge/internal/kernel/elementwise"
	"github.com/gorge-tf/gorge/internal/kernel/layout"
	"github.com/gorge-tf/gorge/internal/kernel/normalization"
	"github.com/gorge-tf/gorge/internal/numeric"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

func init() {
	const types = "T: {half, bfloat16, float, double}"
	core.Register(core.OpDef{
		Name: "SoftmaxCrossEntropyWithLogits", Traits: core.PairsRows, In: "features: T; labels: T", Out: "loss: T; backprop: T", Attrs: types,
		Shape: crossEntropyShape, Grad: tf.GradFunc(crossEntropyGrad),
		Kernels: core.ByType("T", byType{
			tf.Float32: crossEntropy[float32], tf.Float64: crossEntropy[float64],
			tf.Float16: halfLoss[tf.Half](crossEntropy[float32]), tf.BFloat16: halfLoss[tf.BF16](crossEntropy[float32]),
		}),
	})
	core.Register(core.OpDef{
		Name: "SparseSoftmaxCrossEntropyWithLogits", Traits: core.PairsRows, In: "features: T; labels: Tlabels", Out: "loss: T; backprop: T",
		Attrs: types + "; Tlabels: {int32, int64} = int64",
		Shape: sparseCrossEntropyShape, Grad: tf.GradFunc(sparseCrossEntropyGrad),
		Kernels: core.ByType("T", byType{
			tf.Float32: sparseCrossEntropy[float32], tf.Float64: sparseCrossEntropy[float64],
			tf.Float16: halfLoss[tf.Half](sparseCrossEntropy[float32]), tf.BFloat16: halfLoss[tf.BF16](sparseCrossEntropy[float32]),
		}),
	})
}

// SoftmaxCrossEntropyWithLogits returns, for every row of logits, the cross
// entropy of its softmax against a distribution of labels, a row of the same
// size. Labels come first, as in package losses and in TensorFlow's API; the
// op itself has the logits first. The operation's second output is the
// gradient of the loss, which differentiation uses. Both are [rows classes],
// or broadcast to two dimensions, and hold floating-point numbers (float16,
// bfloat16, float32, float64) of one type; the result is [rows]. Other shapes
// are refused with INVALID_ARGUMENT, when the graph is built if they are
// known, else in the step. Nothing checks that the rows of labels are
// distributions, and rows of no classes have a loss of 0.
func SoftmaxCrossEntropyWithLogits(labels, logits tf.Output, opts ...tf.Option) tf.Output {
	return apply("SoftmaxCrossEntropyWithLogits", opts, logits, labels)
}

// SparseSoftmaxCrossEntropyWithLogits returns, for every row of logits, minus
// the logarithm of its softmax at the row's label, an int32 or int64. The
// operation's second output is the gradient of the loss, which
// differentiation uses. logits are [rows classes] and hold floating-point
// numbers (float16, bfloat16, float32, float64); labels and the result are
// [rows]. Other shapes are refused with INVALID_ARGUMENT, when the graph is
// built if they are known, else in the step. The step refuses, with the same
// code, labels outside of [0, classes), and rows of no classes.
func SparseSoftmaxCrossEntropyWithLogits(labels, logits tf.Output, opts ...tf.Option) tf.Output {
	return apply("SparseSoftmaxCrossEntropyWithLogits", opts, logits, labels)
}

func crossEntropyShape(c *core.Infer) error {
	s, ok := tf.BroadcastShapes(c.In(0), c.In(1))
	if !ok || s != nil && len(s) != 2 {
		return tf.Errorf(tf.InvalidArgument, "logits and labels must be matrices that fit together: shapes are %v and %v", c.In(0), c.In(1))
	}
	if s == nil {
		s = unknownDims(2)
	}
	c.Set(0, s[:1])
	c.Set(1, s)
	return nil
}

func sparseCrossEntropyShape(c *core.Infer) error {
	x, err := c.Rank(0, 2)
	if err != nil {
		return err
	}
	labels, err := c.Rank(1, 1)
	if err != nil {
		return err
	}
	rows, ok := mergedDim(x[0], labels[0])
	if !ok {
		return tf.Errorf(tf.InvalidArgument, "Dimensions must be equal: there are %d rows of logits and %d labels", x[0], labels[0])
	}
	c.Set(0, tf.Shape{rows})
	c.Set(1, tf.Shape{rows, x[1]})
	return nil
}

// lossOutputs allocates the losses of rows and their gradients.
func lossOutputs[T tf.Elem](c *core.OpContext, rows int, gradient func() (*core.Tensor, error)) (loss, grad []T, err error) {
	l, err := c.Alloc(0, tf.TypeOf[T](), tf.Shape{rows})
	if err != nil {
		return nil, nil, err
	}
	g, err := gradient()
	if err != nil {
		return nil, nil, err
	}
	loss, grad = core.Data[T](l), core.Data[T](g)
	clear(loss) // a row of no classes has no loss
	return loss, grad, nil
}

func crossEntropy[T interface {
	numeric.Float
	tf.Elem
}](*core.Node) (core.Kernel, error) {
	return core.Compute(func(c *core.OpContext) error {
		x, p := c.Input(0), c.Input(1)
		s, ok := tf.BroadcastShapes(x.Shape(), p.Shape())
		switch {
		case !ok:
			return tf.Errorf(tf.InvalidArgument, "logits and labels must be broadcastable: logits_size=%s labels_size=%s", x.Shape().String(), p.Shape().String())
		case len(s) != 2:
			return tf.Errorf(tf.InvalidArgument, "logits and labels must be either 2-dimensional, or broadcasted to be 2-dimensional")
		}
		loss, grad, err := lossOutputs[T](c, s[0], func() (*core.Tensor, error) { return c.Alloc(1, tf.TypeOf[T](), s) })
		if err != nil {
			return err
		}
		normalization.SoftmaxCrossEntropy(c.ParallelFor, loss, grad, spreadTo[T](x, s), spreadTo[T](p, s), s[1])
		return nil
	}), nil
}

// spreadTo returns the elements of t repeated to fill shape s.
func spreadTo[T tf.Elem](t *core.Tensor, s tf.Shape) []T {
	if t.Len() == s.NumElements() {
		return core.Data[T](t)
	}
	out := core.Make[T](s.NumElements())
	b, _ := elementwise.NewBroadcastTo(s, t.Shape())
	elementwise.CopyBroadcast(kernel.Serial, b, out, core.Data[T](t))
	return out
}

func sparseCrossEntropy[T interface {
	numeric.Float
	tf.Elem
}](*core.Node) (core.Kernel, error) {
	return core.Compute(func(c *core.OpContext) error {
		x, labels := c.Input(0), c.Input(1)
		if err := checkSparse(x.Shape(), labels.Shape()); err != nil {
			return err
		}
		classes := x.Dim(1)
		if err := checkLabels(labels, classes); err != nil {
			return err
		}
		logits := core.Data[T](x)
		loss, grad, err := lossOutputs[T](c, x.Dim(0), func() (*core.Tensor, error) { return c.AllocFrom(0, 1, x.DType(), x.Shape()) })
		if err != nil {
			return err
		}
		if labels.DType() == tf.Int32 {
			normalization.SparseSoftmaxCrossEntropy(c.ParallelFor, loss, grad, logits, core.Data[int32](labels), classes)
		} else {
			normalization.SparseSoftmaxCrossEntropy(c.ParallelFor, loss, grad, logits, core.Data[int64](labels), classes)
		}
		return nil
	}), nil
}

func checkSparse(x, labels tf.Shape) error {
	switch {
	case len(x) != 2:
		return tf.Errorf(tf.InvalidArgument, "logits must be 2-D, but got shape %s", x.String())
	case len(labels) != 1:
		return tf.Errorf(tf.InvalidArgument, "labels must be 1-D, but got shape %s", labels.String())
	case x[0] != labels[0]:
		return tf.Errorf(tf.InvalidArgument, "logits and labels must have the same first dimension, got logits shape %s and labels shape %s", x.String(), labels.String())
	case x[1] == 0 && x[0] > 0:
		return tf.Errorf(tf.InvalidArgument, "Must have at least one class, but got logits shape %s", x.String())
	}
	return nil
}

// checkLabels finds labels that name no class.
func checkLabels(labels *core.Tensor, classes int) error {
	bad := -1
	if labels.DType() == tf.Int32 {
		bad = layout.BadIndex(core.Data[int32](labels), classes)
	} else {
		bad = layout.BadIndex(core.Data[int64](labels), classes)
	}
	if bad < 0 {
		return nil
	}
	var all strings.Builder
	for i := range labels.Len() {
		fmt.Fprintf(&all, " %v", labels.At(i))
	}
	return tf.Errorf(tf.InvalidArgument, "Received a label value of %v which is outside the valid range of [0, %d).  Label values:%s", labels.At(bad), classes, all.String())
}

// halfLoss computes a loss over 16-bit floats with the kernel for float32.
func halfLoss[H interface {
	numeric.HalfFloat
	tf.Elem
}](f32 core.NewKernel) core.NewKernel {
	return func(n *core.Node) (core.Kernel, error) {
		k, err := f32(n)
		compute, _ := core.AsCompute(k)
		return core.Compute(func(c *core.OpContext) error {
			in := *c
			in.In, in.Out, in.Scratch, in.Last = make([]core.Slot, 2), make([]core.Slot, 2), nil, nil
			for i, s := range c.In {
				in.In[i] = s
				if s.T.DType() == tf.TypeOf[H]() {
					in.In[i].T = wideTensor[H](s.T)
				}
			}
			if err := compute(&in); err != nil {
				return err
			}
			for i, s := range in.Out {
				out, err := c.Alloc(i, tf.TypeOf[H](), s.T.Shape())
				if err != nil {
					return err
				}
				elementwise.Narrow(core.Data[H](out), core.Data[float32](s.T))
			}
			return nil
		}), err
	}
}

func wideTensor[H interface {
	numeric.HalfFloat
	tf.Elem
}](t *core.Tensor) *core.Tensor {
	out := core.NewTensor(tf.Float32, t.Shape())
	elementwise.Widen(core.Data[float32](out), core.Data[H](t))
	return out
}

func crossEntropyGrad(op *tf.Operation, dy []tf.Output) []tf.Gradient {
	dx := lossGrad(op, dy)
	if dy[0].IsZero() {
		return tf.Grads(dx, tf.Output{})
	}
	return tf.Grads(dx, timesRows(dy[0], Neg(LogSoftmax(op.Input(0)))))
}

func sparseCrossEntropyGrad(op *tf.Operation, dy []tf.Output) []tf.Gradient {
	return tf.Grads(lossGrad(op, dy), tf.Output{})
}

// lossGrad scales the gradient that the operation has computed already by
// that of the loss. If that gradient has been used itself, the derivative of
// softmax comes on top.
func lossGrad(op *tf.Operation, dy []tf.Output) tf.Output {
	if dy[0].IsZero() {
		return secondOrder(op, dy[1])
	}
	dx := timesRows(dy[0], op.Output(1))
	if dy[1].IsZero() {
		return dx
	}
	return AddV2(dx, secondOrder(op, dy[1]))
}

func secondOrder(op *tf.Operation, ddx tf.Output) tf.Output {
	y := Softmax(op.Input(0))
	row := ExpandDims(ddx, intScalar(y, tf.Int32, 1))
	column := ExpandDims(y, intScalar(y, tf.Int32, 2))
	inner := Squeeze(BatchMatMulV2(row, column), []int{1})
	return Mul(Sub(ddx, inner), y)
}

// timesRows multiplies every row of m with an element of v.
func timesRows(v, m tf.Output) tf.Output {
	return Mul(ExpandDims(v, intScalar(v, tf.Int32, -1)), m)
}
