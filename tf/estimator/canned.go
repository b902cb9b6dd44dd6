package estimator

import (
	"cmp"
	"math"
	"reflect"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/feature"
	"github.com/gorge-tf/gorge/tf/layers"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/ops/sparse"
	"github.com/gorge-tf/gorge/tf/train"
	"github.com/gorge-tf/gorge/tf/vars"
)

// A Task is what a ready-made model learns. The zero value is two classes for
// classifiers, one number for regressors.
type Task struct {
	Config RunConfig
	// Classes is the number of classes; 0 stands for 2.
	Classes int
	// Dimension is how many numbers a regressor computes; 0 stands for 1.
	Dimension int
	Head      HeadOptions
	WarmStart *WarmStart
}

// classes returns the head for the number of classes.
func (t Task) classes() (*Head, error) {
	if t.Classes == 1 || t.Classes < 0 {
		return nil, tf.Errorf(tf.InvalidArgument, "Classes must be at least 2, or 0, which stands for 2, got %d", t.Classes)
	}
	if t.Classes == 0 || t.Classes == 2 {
		return BinaryHead(t.Head)
	}
	return MultiClassHead(t.Classes, t.Head)
}

func (t Task) numbers() (*Head, error) {
	if t.Dimension == 0 {
		t.Dimension = 1
	}
	return RegressionHead(t.Dimension, t.Head)
}

// Linear describes a linear model: TensorFlow's LinearClassifier and
// LinearRegressor. Variables are linear/linear_model/COLUMN/weights and
// linear/linear_model/bias_weights.
type Linear struct {
	Columns []feature.Column
	// Optimizer is FTRL with the rate min(0.2, 1/√columns) if it is nil.
	Optimizer train.Optimizer
	Combiner  sparse.Combiner // of the weights of one column; "": their sum
	// Partitioner cuts variables into parts; nil: into as many as there are
	// parameter servers, of 64 MiB at least.
	Partitioner vars.Partitioner
}

// DNN describes a deep network: TensorFlow's DNNClassifier and DNNRegressor.
// Variables are dnn/hiddenlayer_0/kernel, dnn/logits/bias and so on.
type DNN struct {
	Columns []feature.Dense
	Hidden  []int // units of the layers
	// Optimizer is Adagrad with the rate 0.05 if it is nil.
	Optimizer  train.Optimizer
	Activation layers.Activation // nil: Relu
	// Dropout is the share of results that training drops after each layer.
	Dropout   float64
	BatchNorm bool
	// Partitioner cuts the variables of columns into parts; nil: into as many as
	// there are parameter servers, of 64 MiB at least. Those of layers have 256 KiB
	// at least.
	Partitioner vars.Partitioner
}

// Combined describes a linear and a deep model whose logits are added up:
// TensorFlow's DNNLinearCombinedClassifier. One of them may have no columns. The
// optimizers, if they are nil, are FTRL with the rate min(0.005, 1/√columns) and
// Adagrad with 0.001, as in TensorFlow's estimator 2.15.
type Combined struct {
	Linear Linear
	DNN    DNN
}

// network is what computes logits, and how it is trained.
type network interface {
	check() error
	// within calls f in the variable scope of the whole model, in which optimizers
	// work too: it shows in the names of their slots.
	within(c *Call, f func())
	// logits is called in that scope.
	logits(c *Call, units int) tf.Output
	minimize(loss tf.Output) *tf.Operation
}

// canned returns an estimator of a network with a head.
func canned(n network, h AnyHead, err error, t Task) (*Estimator, error) {
	if err == nil {
		err = cmp.Or(checkHead(h), n.check())
	}
	if err != nil {
		return nil, tf.Errorf(tf.CodeOf(err), "%s (the estimator was made at %s)", tf.AsError(err).Message(), caller())
	}
	fn := func(c *Call) (s *Spec, err error) {
		n.within(c, func() {
			logits := n.logits(c, h.LogitsSize())
			if err = logits.Err(); err == nil {
				s, err = h.Spec(c, logits, n.minimize)
			}
		})
		return s, err
	}
	return New(fn, Options{Config: t.Config, WarmStart: t.WarmStart})
}

// checkHead refuses a head that is missing, as one is whose options were refused.
func checkHead(h AnyHead) error {
	if v := reflect.ValueOf(h); !v.IsValid() || v.Kind() == reflect.Pointer && v.IsNil() {
		return tf.Errorf(tf.InvalidArgument, "a ready-made model needs a head, got nil")
	}
	return nil
}

// NewLinear returns an estimator of a linear model with any head.
func NewLinear(h AnyHead, m Linear, t Task) (*Estimator, error) { return canned(m, h, nil, t) }

// LinearClassifier returns an estimator of a linear model that finds classes.
func LinearClassifier(m Linear, t Task) (*Estimator, error) {
	h, err := t.classes()
	return canned(m, h, err, t)
}

// LinearRegressor returns an estimator of a linear model that finds numbers.
func LinearRegressor(m Linear, t Task) (*Estimator, error) {
	h, err := t.numbers()
	return canned(m, h, err, t)
}

// NewDNN returns an estimator of a deep network with any head.
func NewDNN(h AnyHead, m DNN, t Task) (*Estimator, error) { return canned(m, h, nil, t) }

// DNNClassifier returns an estimator of a deep network that finds classes.
func DNNClassifier(m DNN, t Task) (*Estimator, error) {
	h, err := t.classes()
	return canned(m, h, err, t)
}

// DNNRegressor returns an estimator of a deep network that finds numbers.
func DNNRegressor(m DNN, t Task) (*Estimator, error) {
	h, err := t.numbers()
	return canned(m, h, err, t)
}

// NewCombined returns an estimator of both with any head.
func NewCombined(h AnyHead, m Combined, t Task) (*Estimator, error) { return canned(m, h, nil, t) }

// DNNLinearCombinedClassifier returns an estimator of both that finds classes.
func DNNLinearCombinedClassifier(m Combined, t Task) (*Estimator, error) {
	h, err := t.classes()
	return canned(m, h, err, t)
}

// DNNLinearCombinedRegressor returns an estimator of both that finds numbers.
func DNNLinearCombinedRegressor(m Combined, t Task) (*Estimator, error) {
	h, err := t.numbers()
	return canned(m, h, err, t)
}

func (m Linear) check() error {
	if len(m.Columns) == 0 {
		return tf.Errorf(tf.InvalidArgument, "a linear model must have columns: feature_columns must not be empty.")
	}
	return nil
}

func (m Linear) within(c *Call, f func()) {
	vars.Scope(c.Graph, "linear", vars.ScopeOptions{Partitioner: partitioner(c, m.Partitioner, columnBytes)}, f)
}

func (m Linear) logits(c *Call, units int) tf.Output {
	y := feature.LinearModel(c.Features, m.Columns, feature.LinearOpts{Units: units, Combiner: m.Combiner})
	summarizeLinear(y, units)
	return y
}

// rate is the default of linear models, at most limit.
func (m Linear) rate(limit float64) float64 { return min(limit, 1/math.Sqrt(float64(len(m.Columns)))) }

func (m Linear) minimize(loss tf.Output) *tf.Operation {
	if m.Optimizer == nil {
		m.Optimizer = train.FTRL{LearningRate: m.rate(0.2)}
	}
	return Minimizer(m.Optimizer)(loss)
}

func (m DNN) check() error {
	if len(m.Columns) == 0 {
		return tf.Errorf(tf.InvalidArgument, "a deep network must have columns: feature_columns must not be empty.")
	}
	for _, n := range m.Hidden {
		if n < 1 {
			return tf.Errorf(tf.InvalidArgument, "hidden layers must have units, got %v", m.Hidden)
		}
	}
	if m.Dropout < 0 || m.Dropout >= 1 {
		return tf.Errorf(tf.InvalidArgument, "the share that is dropped must be in [0, 1), got %v", m.Dropout)
	}
	return nil
}

func (m DNN) within(c *Call, f func()) {
	vars.Scope(c.Graph, "dnn", vars.ScopeOptions{Partitioner: partitioner(c, nil, layerBytes)}, f)
}

func (m DNN) logits(c *Call, units int) tf.Output {
	var x tf.Output
	columns := vars.ScopeOptions{Partitioner: partitioner(c, m.Partitioner, columnBytes)}
	vars.Scope(c.Graph, "input_from_feature_columns", columns, func() { x = feature.InputLayer(c.Features, m.Columns...) })
	for i, n := range m.Hidden {
		x = m.hidden(c, x, i, n)
	}
	y := layers.Dense(x, units, layers.DenseOpts{Name: "logits"})
	summarize(y, "dnn/logits")
	return y
}

func (m DNN) minimize(loss tf.Output) *tf.Operation {
	if m.Optimizer == nil {
		m.Optimizer = train.Adagrad{LearningRate: 0.05}
	}
	return Minimizer(m.Optimizer)(loss)
}

func (m Combined) check() error {
	if len(m.Linear.Columns) == 0 && len(m.DNN.Columns) == 0 {
		return tf.Errorf(tf.InvalidArgument, "Either linear_feature_columns or dnn_feature_columns must be defined.")
	}
	if len(m.DNN.Columns) > 0 {
		if len(m.DNN.Hidden) == 0 {
			return tf.Errorf(tf.InvalidArgument, "dnn_hidden_units must be defined when dnn_feature_columns is specified.")
		}
		return m.DNN.check()
	}
	return nil
}

func (Combined) within(_ *Call, f func()) { f() }

func (m Combined) logits(c *Call, units int) tf.Output {
	var all []tf.Output
	if len(m.DNN.Columns) > 0 {
		m.DNN.within(c, func() { all = append(all, m.DNN.logits(c, units)) })
	}
	if len(m.Linear.Columns) > 0 {
		m.Linear.within(c, func() {
			y := m.Linear.logits(c, units)
			summarize(y, "linear")
			all = append(all, y)
		})
	}
	if len(all) == 1 || all[0].Err() != nil {
		return all[0]
	}
	return all[0].Add(all[1])
}

// minimize trains both parts on the same loss and then counts the step.
func (m Combined) minimize(loss tf.Output) *tf.Operation {
	if m.DNN.Optimizer == nil {
		m.DNN.Optimizer = train.Adagrad{LearningRate: 0.001}
	}
	if m.Linear.Optimizer == nil {
		m.Linear.Optimizer = train.FTRL{LearningRate: m.Linear.rate(0.005)}
	}
	g := loss.Graph()
	var steps []*tf.Operation
	part := func(scope string, o train.Optimizer) {
		if vs := trainable(g, scope); len(vs) > 0 {
			steps = append(steps, train.Minimize(o, loss, train.Options{Vars: vs}))
		}
	}
	part("dnn/", m.DNN.Optimizer)
	part("linear/", m.Linear.Optimizer)
	return train.GlobalStep(g).AssignAdd(ops.Scalar(g, int64(1)), tf.After(tf.Group(g, "train", steps...)))
}
