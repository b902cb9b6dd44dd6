package estimator

import (
	"cmp"
	"maps"
	"slices"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/feature"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/ops/sparse"
)

// SequenceMask is the key of the mask of a [SequentialHead] that names none.
const SequenceMask = "sequence_length_mask"

// SequentialOptions adjust [NewSequentialHead].
type SequentialOptions struct {
	// Mask is the key of the feature, bool [batch time], that is true for what
	// belongs to a sequence and false behind its end; "": [SequenceMask].
	Mask string
	// Features are keys of features [batch time ...] that the head's Loss gets, step
	// by step as well. That of the weights is among them in any case.
	Features []string
}

// A SequentialHead is a head for each step of sequences of different lengths:
// TensorFlow's SequentialHeadWrapper. Logits are float32 [batch time LogitsSize],
// labels and weights [batch time] or [batch time n], or sparse. Losses and metrics
// are those of the steps for which the mask is true, each an example of its own.
// Predictions are of all steps, and have the mask besides.
type SequentialHead struct {
	h    *Head
	mask string
	keys []string
}

// NewSequentialHead returns a head for sequences that does for each step what h does
// for an example.
func NewSequentialHead(h *Head, o SequentialOptions) (*SequentialHead, error) {
	if h == nil {
		return nil, tf.Errorf(tf.InvalidArgument, "a sequential head needs the head of one step, got nil")
	}
	keys := slices.Clone(o.Features)
	if w := h.o.WeightColumn; w != "" && !slices.Contains(keys, w) {
		keys = append(keys, w)
	}
	return &SequentialHead{h, cmp.Or(o.Mask, SequenceMask), keys}, nil
}

// LogitsSize is how many numbers a model must compute for each step.
func (s *SequentialHead) LogitsSize() int { return s.h.LogitsSize() }

// Mask returns the key of the mask.
func (s *SequentialHead) Mask() string { return s.mask }

// Spec returns the Spec of a model whose logits are float32 [batch time LogitsSize],
// and which has put the mask among the call's features. See [Head.Spec].
func (s *SequentialHead) Spec(c *Call, logits tf.Output, minimize func(loss tf.Output) *tf.Operation) (*Spec, error) {
	if err := s.h.accept(c, logits); err != nil {
		return nil, err
	}
	mask, err := s.maskOf(c)
	if err != nil {
		return nil, err
	}
	if c.Mode == Predict {
		spec, err := s.h.Spec(c, logits, minimize)
		if err == nil {
			spec.Predictions = maps.Clone(spec.Predictions) // that of the signatures has none
			spec.Predictions[s.mask] = mask
		}
		return spec, err
	}
	steps, err := s.steps(c, mask)
	if err != nil {
		return nil, err
	}
	y, err := stepsOf(logits, mask)
	if err != nil {
		return nil, err
	}
	return s.h.Spec(steps, y, minimize)
}

func (s *SequentialHead) maskOf(c *Call) (tf.Output, error) {
	x, ok := c.Features[s.mask].(tf.Output)
	switch {
	case !ok:
		return x, tf.Errorf(tf.InvalidArgument, "The provided sequence_length_mask key `%s` should be included in the features dictionary, but was not found. Found keys: %q.", s.mask, slices.Sorted(maps.Keys(c.Features)))
	case x.Err() != nil:
		return x, x.Err()
	case len(x.Shape()) != 2:
		return x, tf.Errorf(tf.InvalidArgument, "Mask is expected to have two dimensions, got %d instead.", len(x.Shape()))
	case x.DType() != tf.Bool:
		return x, tf.Errorf(tf.InvalidArgument, "the mask of sequences must be bool [batch time], got %v", x)
	}
	return x, nil
}

// steps returns c with steps as examples.
func (s *SequentialHead) steps(c *Call, mask tf.Output) (*Call, error) {
	out := *c
	out.Labels, out.Features = feature.Features{}, feature.Features{}
	var err error
	for key, x := range c.Labels {
		if out.Labels[key], err = stepsOf(x, mask); err != nil {
			return nil, err
		}
	}
	for _, key := range s.keys {
		x, ok := c.Features[key]
		if !ok {
			return nil, tf.Errorf(tf.InvalidArgument, "`%s` column expected in features dictionary.", key)
		}
		if out.Features[key], err = stepsOf(x, mask); err != nil {
			return nil, err
		}
	}
	return &out, nil
}

// stepsOf returns the parts of x, dense or sparse [batch time ...], that the mask
// lets pass, [steps ...] or, of a matrix, [steps 1].
func stepsOf(x any, mask tf.Output) (tf.Output, error) {
	switch x := x.(type) {
	case tf.Output:
		return denseSteps(x, mask)
	case sparse.Tensor:
		return sparseSteps(x, mask)
	}
	return tf.Output{}, tf.Errorf(tf.InvalidArgument, "what belongs to sequences must be a tf.Output or a sparse.Tensor, got %T", x)
}

func denseSteps(x, mask tf.Output) (tf.Output, error) {
	s := x.Shape()
	if x.Err() == nil && s != nil && len(s) < 2 {
		return x, tf.Errorf(tf.InvalidArgument, "Input tensor expected to have at least 2 dimensions, got %d instead: %v", len(s), x)
	}
	if x.Err() == nil && s != nil && !s[:2].Compatible(mask.Shape()) {
		return x, tf.Errorf(tf.InvalidArgument, "Tensor shape is incompatible with provided mask. The mask is %v, got %v", mask, x)
	}
	x = masked(x, mask)
	y := ops.BooleanMask(x, mask, 0)
	if y.Err() == nil && s != nil {
		y.SetShape(append(tf.Shape{-1}, s[2:]...))
	}
	if len(s) == 2 {
		y = ops.ExpandDims(y, 1)
	}
	return y, y.Err()
}

// masked lets x pass if its first two sizes are those of the mask: else the mask
// would pick other steps, or fail with less to say.
func masked(x, mask tf.Output) tf.Output {
	if x.Err() != nil {
		return x
	}
	g := x.Graph()
	fits := ops.Assert(ops.Shape(x).At(":2").Equal(ops.Shape(mask)).All(), []tf.Output{ops.Scalar(g, "Tensor shape is incompatible with provided mask."), ops.Shape(x), ops.Shape(mask)})
	return ops.Identity(x, tf.After(fits))
}

// sparseSteps returns the elements of x in their order. There must be as many as
// the mask has steps, or as many for each of them as the further sizes say.
func sparseSteps(x sparse.Tensor, mask tf.Output) (tf.Output, error) {
	x = sparse.SparseReorder(x)
	if x.Values.Err() != nil {
		return x.Values, x.Values.Err()
	}
	g := mask.Graph()
	steps := mask.Cast(tf.Int64).Sum().Reshape(1)
	rank := x.DenseShape.Shape()
	if len(rank) != 1 || rank[0] < 2 {
		return x.Values, tf.Errorf(tf.InvalidArgument, "Input tensor expected to have at least 2 dimensions, got a sparse tensor of shape %v", x.DenseShape)
	}
	inner, width := ops.Const(g, []int64{1}), 1
	if rank[0] > 2 {
		inner, width = x.DenseShape.At("2:"), -1
	}
	want := ops.Concat(0, []tf.Output{steps, inner})
	n := ops.Size(x.Values, ops.ShapeOpts{OutType: tf.Int64})
	fits := ops.Assert(n.Equal(want.Prod()), []tf.Output{ops.Scalar(g, "Tensor shape is incompatible with provided mask."), n, want})
	y := ops.Reshape(ops.Identity(x.Values, tf.After(fits)), want)
	if y.Err() == nil && y.Shape() == nil && rank[0] <= 3 {
		y.SetShape(tf.Shape{-1, width})
	}
	return y, y.Err()
}
