// Package recurrent has ready-made estimators of recurrent networks: TensorFlow's
// tf.estimator.experimental.RNNEstimator and RNNClassifier. It is a package of its
// own because it links package rnn and linear algebra.
//
// Sequences are columns of package feature, such as an embedding of
// feature.Sequence. Names of variables are those of TensorFlow 2.15's estimators:
// rnn_model/rnn/lstm_cell/kernel, rnn_model/logits/bias and
// sequence_features/COLUMN/embedding_weights.
package recurrent

import (
	"cmp"
	"maps"
	"reflect"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/estimator"
	"github.com/gorge-tf/gorge/tf/feature"
	"github.com/gorge-tf/gorge/tf/layers"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/ops/summary"
	"github.com/gorge-tf/gorge/tf/rnn"
	"github.com/gorge-tf/gorge/tf/train"
	"github.com/gorge-tf/gorge/tf/vars"
)

// A CellType is a kind of cell, with the variables and equations of Keras.
type CellType string

const (
	SimpleRNN CellType = "simple_rnn" // tanh(x·kernel + h·recurrent_kernel + bias)
	LSTM      CellType = "lstm"
	GRU       CellType = "gru" // the reset gate applies to h·recurrent_kernel
)

// SequenceMask is the key of the mask of a [Network] that names none.
const SequenceMask = "sequence_mask"

// A Network describes a recurrent network over sequences.
type Network struct {
	// Sequence are the columns of steps, Context those whose numbers each step gets
	// besides.
	Sequence []feature.SequenceDense
	Context  []feature.Dense
	// Units are those of the layers, Type the kind of their cells; "": SimpleRNN.
	Units []int
	Type  CellType
	// Cell, if given, makes the cell instead of Units and Type: a rnn.LSTMCell, for
	// example. It is called for each graph.
	Cell func() rnn.Cell
	// Sequences makes logits for each step of a sequence, not for its last one.
	Sequences bool
	// Mask is the key of the mask of steps among the features and, with Sequences,
	// among the predictions; "": [SequenceMask]. Features that have it already are
	// left as they are.
	Mask string
	// Optimizer is Adagrad with the rate 0.05 if it is nil, with each gradient
	// clipped to the norm 5.
	Optimizer train.Optimizer
}

// New returns an estimator of a recurrent network with any head: TensorFlow's
// RNNEstimator. Sequences need an estimator.SequentialHead, whose mask counts.
func New(h estimator.AnyHead, n Network, t estimator.Task) (*estimator.Estimator, error) {
	if v := reflect.ValueOf(h); !v.IsValid() || v.Kind() == reflect.Pointer && v.IsNil() {
		return nil, tf.Errorf(tf.InvalidArgument, "a recurrent network needs a head, got nil")
	}
	if err := n.check(); err != nil {
		return nil, err
	}
	s, ok := h.(*estimator.SequentialHead)
	if n.Sequences != ok {
		return nil, tf.Errorf(tf.InvalidArgument, "Provided head must be a `_SequentialHead` object when `return_sequences` is set to True, and only then: Sequences is %v, the head is a %T", n.Sequences, h)
	}
	if ok {
		n.Mask = s.Mask()
	}
	fn := func(c *estimator.Call) (*estimator.Spec, error) { return n.spec(c, h) }
	return estimator.New(fn, estimator.Options{Config: t.Config, WarmStart: t.WarmStart})
}

// Classifier returns an estimator of a recurrent network that finds classes, of each
// sequence or, with Sequences, of each step: TensorFlow's RNNClassifier. Its loss is
// the mean over the batch unless Task.Head says otherwise.
func Classifier(n Network, t estimator.Task) (*estimator.Estimator, error) {
	t.Head.MeanLoss = t.Head.MeanLoss || t.Head.Reduction == nil
	h, err := classes(t)
	if err != nil {
		return nil, err
	}
	if !n.Sequences {
		return New(h, n, t)
	}
	s, err := estimator.NewSequentialHead(h, estimator.SequentialOptions{Mask: cmp.Or(n.Mask, SequenceMask)})
	if err != nil {
		return nil, err
	}
	return New(s, n, t)
}

func classes(t estimator.Task) (*estimator.Head, error) {
	switch t.Classes {
	case 0, 2:
		return estimator.BinaryHead(t.Head)
	}
	return estimator.MultiClassHead(t.Classes, t.Head)
}

func (n *Network) check() error {
	bad := func(format string, args ...any) error { return tf.Errorf(tf.InvalidArgument, format, args...) }
	switch {
	case len(n.Sequence) == 0:
		return bad("a recurrent network needs columns of sequences: sequence_feature_columns must not be empty")
	case n.Cell != nil && (len(n.Units) > 0 || n.Type != ""):
		return bad("units and cell_type must not be specified when using rnn_cell_fn")
	case n.Cell != nil:
		return nil
	case len(n.Units) == 0:
		return bad("a recurrent network needs the units of its layers, or a cell")
	case n.Type != "" && n.Type != SimpleRNN && n.Type != LSTM && n.Type != GRU:
		return bad("`cell_type` should be a class producing a RNN cell, or a string specifying the cell type. Supported strings are: ['simple_rnn', 'lstm', 'gru'], got %q.", n.Type)
	}
	for _, u := range n.Units {
		if u < 1 {
			return bad("layers must have units, got %v", n.Units)
		}
	}
	return nil
}

// spec is the model function.
func (n *Network) spec(c *estimator.Call, h estimator.AnyHead) (*estimator.Spec, error) {
	x, lengths := feature.SequenceFeatures(c.Features, n.Sequence...)
	if x.Err() != nil {
		return nil, x.Err()
	}
	summary.Histogram("sequence_length", lengths)
	if len(n.Context) > 0 {
		x = feature.ConcatenateContext(feature.DenseFeatures(c.Features, n.Context...), x)
	}
	if x.Err() != nil {
		return nil, x.Err()
	}
	mask := ops.SequenceMaskTo(lengths, ops.Shape(x).At("1"), tf.Bool)
	var logits tf.Output
	vars.Scope(c.Graph, "rnn_model", vars.ScopeOptions{}, func() {
		logits = layers.Dense(n.outputs(x, lengths, mask), h.LogitsSize(), layers.DenseOpts{Name: "logits"})
	})
	if logits.Err() != nil {
		return nil, logits.Err()
	}
	call := *c
	if key := cmp.Or(n.Mask, SequenceMask); n.Sequences && c.Features[key] == nil {
		call.Features = maps.Clone(c.Features)
		call.Features[key] = mask
	}
	return h.Spec(&call, logits, n.minimize)
}

// outputs runs the cell. It returns what it computes for the last step of each
// sequence, [batch units], or for all steps, [batch time units]: then what follows
// a sequence is as its last step, as in Keras.
func (n *Network) outputs(x, lengths, mask tf.Output) tf.Output {
	y, _ := rnn.DynamicRNN(n.cell(x), x, rnn.Opts{Lengths: lengths})
	if y.Err() != nil {
		return y
	}
	// DynamicRNN has zeros behind the end. A sequence without steps has no last one.
	g := y.Graph()
	isLast := ops.OneHot(lengths.Sub(ops.OnesLike(lengths)), ops.Shape(y).At("1"), ops.Scalar(g, float32(1)), ops.Scalar(g, float32(0)))
	last := y.Mul(ops.ExpandDims(isLast, 2)).Sum(1)
	if !n.Sequences {
		return last
	}
	beyond := ops.Scalar(g, float32(1)).Sub(mask.Cast(tf.Float32))
	return y.Add(ops.ExpandDims(beyond, 2).Mul(ops.ExpandDims(last, 1)))
}

func (n *Network) minimize(loss tf.Output) *tf.Operation {
	o := train.Options{GlobalStep: train.GlobalStep(loss.Graph())}
	if n.Optimizer != nil {
		return train.Minimize(n.Optimizer, loss, o)
	}
	o.Clip = func(gs []tf.Gradient) []tf.Gradient {
		for i, d := range gs {
			gs[i] = clipped(d)
		}
		return gs
	}
	return train.Minimize(train.Adagrad{LearningRate: 0.05}, loss, o)
}

// clipped is a gradient with a norm of 5 at most.
func clipped(d tf.Gradient) tf.Gradient {
	if d.IsZero() {
		return d
	}
	if s, ok := d.IndexedSlices(); ok {
		s.Values = train.ClipByNorm(s.Values, 5)
		return tf.Sparse(s)
	}
	return tf.Dense(train.ClipByNorm(d.Output(), 5))
}
