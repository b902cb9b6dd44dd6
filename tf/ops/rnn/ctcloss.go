package rnn

import (
	"math"

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
}

// lossOf computes the loss of sequence b of logits x and sets its gradient in
// dx.
func lossOf[T numeric.Float](v *ctc, b int, x, dx []T) T {
	path, steps := v.paths[b], int(v.lengths[b])
	n, probs := len(path)*steps, steps*v.classes
	work := core.Make[float64](probs + 3*n)
	s := &ctcSequence{ctc: v, path: path, steps: steps, probs: work[:probs], labels: work[probs : probs+n], alpha: work[probs+n : probs+2*n], beta: work[probs+2*n:]}
	for t := range steps {
		row := s.probs[t*v.classes:][:v.classes]
		kernel.Map2(row, x[(t*v.batch+b)*v.classes:][:v.classes], func(v T) float64 { return float64(v) })
		normalization.Softmax(kernel.Serial, row, row, v.classes)
		s.logLabels(t)
	}
	s.forward()
	s.backward()
	p := math.Inf(-1)
	for u := range path {
		p = logAdd(p, s.alpha[u]+s.beta[u])
	}
	for t := range steps {
		row := s.gradient(t, p)
		kernel.Map2(dx[(t*v.batch+b)*v.classes:][:v.classes], row, func(v float64) T { return T(v) })
	}
	return T(-p)
}

// logLabels looks the logarithms of a step's probabilities up, by place.
func (s *ctcSequence) logLabels(t int) {
	probs, out := s.probs[t*s.classes:], s.labels[t*len(s.path):][:len(s.path)]
	blank := math.Log(probs[s.blank])
	for u, l := range s.path {
		if out[u] = blank; l != s.blank {
			out[u] = math.Log(probs[l])
		}
	}
}

// span returns the places that can be reached at step t in time for the last.
func (s *ctcSequence) span(t int) (lo, hi int) {
	n := len(s.path)
	return max(0, n-2*(s.steps-t)), min(n, 2*(t+1))
}

// stays reports whether a way may stay at place u for another step.
func (s *ctc) stays(path []int, u int) bool { return s.merge || path[u] == s.blank }

// skips reports whether a way may go from place u to u+2.
func (s *ctc) skips(path []int, u int) bool {
	return path[u+2] != s.blank && !(s.merge && path[u] == path[u+2])
}

// forward sums up the ways from the first step.
func (s *ctcSequence) forward() {
	n := len(s.path)
	kernel.Fill(s.alpha, math.Inf(-1))
	copy(s.alpha[:min(2, n)], s.labels)
	for t := 1; t < s.steps; t++ {
		before, now, p := s.alpha[(t-1)*n:t*n], s.alpha[t*n:(t+1)*n], s.labels[t*n:(t+1)*n]
		lo, hi := s.span(t)
		for u := lo; u < hi; u++ {
			sum := math.Inf(-1)
			if s.stays(s.path, u) {
				sum = before[u]
			}
			if u > 0 {
				sum = logAdd(sum, before[u-1])
			}
			if u > 1 && s.skips(s.path, u-2) {
				sum = logAdd(sum, before[u-2])
			}
			now[u] = p[u] + sum
		}
	}
}

// backward sums up the ways to the last step.
func (s *ctcSequence) backward() {
	n := len(s.path)
	kernel.Fill(s.beta, math.Inf(-1))
	clear(s.beta[(s.steps-1)*n+max(0, n-2):])
	for t := s.steps - 2; t >= 0; t-- {
		now, next, p := s.beta[t*n:(t+1)*n], s.beta[(t+1)*n:(t+2)*n], s.labels[(t+1)*n:(t+2)*n]
		lo, hi := s.span(t)
		for u := lo; u < hi; u++ {
			sum := math.Inf(-1)
			if s.stays(s.path, u) {
				sum = next[u] + p[u]
			}
			if u+1 < n {
				sum = logAdd(sum, next[u+1]+p[u+1])
			}
			if u+2 < n && s.skips(s.path, u) {
				sum = logAdd(sum, next[u+2]+p[u+2])
			}
			now[u] = sum
		}
	}
}

// gradient returns the gradient at step t, in the place of the probabilities:
// what a class is probable less what part of the ways goes through it.
func (s *ctcSequence) gradient(t int, total float64) []float64 {
	n, dx := len(s.path), s.probs[t*s.classes:][:s.classes]
	if math.IsInf(total, -1) {
		return dx
	}
	for u, l := range s.path {
		dx[l] -= math.Exp(s.alpha[t*n+u] + s.beta[t*n+u] - total)
	}
	return dx
}
