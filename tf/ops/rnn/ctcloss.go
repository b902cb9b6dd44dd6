package rnn

import (
	"github.com/gorge-tf/gorge/internal/kernel"
	"github.com/gorge-tf/gorge/internal/kernel/normalization"
	"github.com/gorge-tf/gorge/internal/numeric"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/ops"
)

const ctcTypes = "T: {float, double} = DT_FLOAT"

func init() {
	core.Register(core.OpDef{
		Name: "CTCLoss", In: "inputs: T; labels_indices: int64; labels_values: int32; sequence_length: int32", Out: "loss: T; gradient: T",
		Attrs: "preprocess_collapse_repeated: bool = false; ctc_merge_repeated: bool = true; ignore_longer_outputs_than_inputs: bool = false; " + ctcTypes,
		Shape: ctcLossShape, Expensive: true, Grad: tf.GradFunc(ctcLossGrad),
		Kernels: core.ByType("T", map[tf.DType]core.NewKernel{tf.Float32: ctcLossKernel[float32], tf.Float64: ctcLossKernel[float64]}),
	})
}

// CTCLossOpts are the optional attributes of CTCLoss.
type CTCLossOpts struct {
	// CollapseRepeated makes runs of equal labels one label beforehand.
	CollapseRepeated bool
	// KeepRepeated tells equal labels apart that no blank separates.
	KeepRepeated bool
	// IgnoreLonger gives sequences that have more labels than steps a loss of
	// zero. They are an error else.
	IgnoreLonger bool
}

// Apply sets the attributes.
func (o CTCLossOpts) Apply(s *tf.Spec) {
	s.Set("preprocess_collapse_repeated", o.CollapseRepeated)
	s.Set("ctc_merge_repeated", !o.KeepRepeated)
	s.Set("ignore_longer_outputs_than_inputs", o.IgnoreLonger)
}

// CTCLoss returns how improbable, as -log p for each sequence of a batch, the
// labels are given logits x [time batch classes], whatever the steps at which
// they come, and the gradient of that for x. The loss is connectionist
// temporal classification (Graves et al., ICML 2006). Labels are a sparse
// matrix of a row for each sequence; the last class is the blank between
// them. lengths tells how many steps each sequence has. x is float32 or
// float64, of one type with the results; loss is a vector [batch] and
// gradient has the shape of x. labelIndices, int64, is a matrix of two
// columns, labels and lengths, int32, are vectors. Other ranks and unequal
// sizes are refused with INVALID_ARGUMENT, when the graph is built if they
// are known, else in the step. So are, in the step, indices out of order or
// bounds, lengths that are negative or more than the steps, negative labels,
// labels behind one that is no class but the blank, and sequences without
// labels or, without IgnoreLonger, with more labels than steps.
// Its options are [CTCLossOpts].
func CTCLoss(x, labelIndices, labels, lengths tf.Output, opts ...tf.Option) (loss, gradient tf.Output) {
	op := tf.Apply(nil, "CTCLoss", []tf.Output{x, labelIndices, labels, lengths}, opts...)
	return op.Output(0), op.Output(1)
}

func ctcLossShape(c *core.Infer) error {
	for i, rank := range []int{3, 2, 1, 1} {
		if _, err := c.Rank(i, rank); err != nil {
			return err
		}
	}
	x, _ := c.Rank(0, 3)
	at, _ := c.Rank(1, 2)
	labels, _ := c.Rank(2, 1)
	if _, err := equalSizes(at[0], labels[0]); err != nil {
		return err
	}
	lengths, _ := c.Rank(3, 1)
	batch, err := equalSizes(x[1], lengths[0])
	if err != nil {
		return err
	}
	c.Set(0, tf.Shape{batch})
	c.Set(1, tf.Shape{x[0], batch, x[2]})
	return nil
}

// equalSizes returns what two sizes are that have to be equal.
func equalSizes(a, b int) (int, error) {
	switch {
	case a < 0:
		return b, nil
	case b < 0 || a == b:
		return a, nil
	}
	return 0, invalid("Dimensions must be equal, but are %d and %d", a, b)
}

// ctcLossGrad scales the gradient that the op has computed beside the loss.
func ctcLossGrad(op *tf.Operation, dy []tf.Output) []tf.Gradient {
	if dy[0].IsZero() {
		return make([]tf.Gradient, 4)
	}
	g := ops.PreventGradient(op.Output(1), ops.PreventGradientOpts{
		Message: "Currently there is no way to take the second  derivative of ctc_loss due to the fused implementation's interaction  with tf.gradients()"})
	axis := ops.ConstValue(dy[0].Graph(), core.Scalar(int32(-1)))
	return tf.Grads(ops.Mul(ops.ExpandDims(dy[0], axis), g), tf.Output{}, tf.Output{}, tf.Output{})
}

// A ctc is the loss of a batch.
type ctc struct {
	time, batch, classes int
	blank                int
	merge                bool
	lengths              []int32
	paths                [][]int // by sequence, its labels with blanks around each; nil: no loss
}

func ctcLossKernel[T interface {
	numeric.Float
	tf.Elem
}](n *core.Node) (core.Kernel, error) {
	return core.Compute(func(c *core.OpContext) error {
		v, err := ctcOf(c)
		if err != nil {
			return err
		}
		loss, err := c.Alloc(0, c.Input(0).DType(), tf.Shape{v.batch})
		if err != nil {
			return err
		}
		grad, err := c.Alloc(1, c.Input(0).DType(), c.Input(0).Shape())
		if err != nil {
			return err
		}
		x, y, dx := core.Data[T](c.Input(0)), core.Data[T](loss), core.Data[T](grad)
		clear(y)
		clear(dx)
		c.ParallelFor(v.batch, 1, func(lo, hi int) {
			for b := lo; b < hi; b++ {
				if v.paths[b] != nil {
					y[b] = lossOf(v, b, x, dx)
				}
			}
		})
		return nil
	}), nil
}

// A ctcSequence is one sequence of a batch. It is computed in float64: the
// gradient is a small difference of exponentials of large sums.
type ctcSequence struct {
	*ctc
	path        []int
	steps       int
	probs       []float64 // softmax of the logits, by step and class
	labels      []float64 // logarithm of the probability of each place of the path, by step
	alpha, beta []float64 // logarithms of the ways from the first and to the last step, by step and place
	stays       []float64 // 0 for places where a way may stay for another step, else -Inf
	skips       []float64 // 0 for places u from which a way may go to u+2, else -Inf
	joined      *logSums
}

// lossOf computes the loss of sequence b of logits x and sets its gradient in
// dx.
func lossOf[T numeric.Float](v *ctc, b int, x, dx []T) T {
	path, steps := v.paths[b], int(v.lengths[b])
	n, probs := len(path)*steps, steps*v.classes
	work, loan := core.Lend[float64](probs + 3*n)
	defer loan.Return()
	s := &ctcSequence{ctc: v, path: path, steps: steps, probs: work[:probs], labels: work[probs : probs+n], alpha: work[probs+n : probs+2*n], beta: work[probs+2*n:], joined: newLogSums(len(path))}
	s.findMoves()
	for t := range steps {
		row := s.probs[t*v.classes:][:v.classes]
		kernel.Map2(row, x[(t*v.batch+b)*v.classes:][:v.classes], func(v T) float64 { return float64(v) })
		normalization.Softmax(kernel.Serial, row, row, v.classes)
		s.logLabels(t)
	}
	s.forward()
	s.backward()
	p := s.total()
	for t := range steps {
		row := s.gradient(t, p)
		kernel.Map2(dx[(t*v.batch+b)*v.classes:][:v.classes], row, func(v float64) T { return T(v) })
	}
	return T(-p)
}
