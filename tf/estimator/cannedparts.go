package estimator

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/initializers"
	"github.com/gorge-tf/gorge/tf/layers"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/ops/sparse"
	"github.com/gorge-tf/gorge/tf/train"
	"github.com/gorge-tf/gorge/tf/vars"
)

// hidden adds layer i: dense, dropout and batch normalization, in this order.
func (m DNN) hidden(c *Call, x tf.Output, i, units int) tf.Output {
	if x.Err() != nil {
		return x
	}
	name := fmt.Sprintf("hiddenlayer_%d", i)
	act := m.Activation
	if act == nil {
		act = layers.Relu
	}
	x = layers.Dense(x, units, layers.DenseOpts{Name: name, Activation: act})
	if m.Dropout > 0 && c.Mode == Train {
		x = layers.Dropout(x, m.Dropout)
	}
	if m.BatchNorm {
		vars.Scope(c.Graph, name, vars.ScopeOptions{}, func() {
			x = layers.BatchNorm(x, c.Mode == Train, layers.BatchNormOpts{Momentum: 0.999, Name: fmt.Sprintf("batchnorm_%d", i)})
		})
	}
	summarize(x, "dnn/"+name)
	return x
}

// Logits adds the network to a model of one's own, and returns its units logits for
// each example: TensorFlow's dnn_logit_fn_builder. Variables are hiddenlayer_0/kernel,
// logits/bias and so on in the variable scope that is open; the optimizer has no
// effect. The counterpart for linear models is feature.LinearModel.
func (m DNN) Logits(c *Call, units int) tf.Output {
	if err := m.check(); err != nil {
		return tf.Failed(c.Graph, "logits", err).Output(0)
	}
	return m.logits(c, units)
}

// trainable returns the variables of a scope that are trained.
func trainable(g *tf.Graph, scope string) (vs []*tf.Variable) {
	for _, v := range tf.Variables(g, tf.TrainableVariables) {
		if strings.HasPrefix(v.Name(), scope) {
			vs = append(vs, v)
		}
	}
	return vs
}

// Baseline describes a model that ignores features: it learns the mean of the
// labels, or the shares of classes. Its variable is baseline/bias.
type Baseline struct {
	// Optimizer is FTRL with the rate 0.3 if it is nil.
	Optimizer train.Optimizer
}

// BaselineClassifier returns an estimator of the shares of classes.
func BaselineClassifier(m Baseline, t Task) (*Estimator, error) {
	h, err := t.classes()
	return canned(m, h, err, t)
}

// BaselineRegressor returns an estimator of the mean of labels.
func BaselineRegressor(m Baseline, t Task) (*Estimator, error) {
	h, err := t.numbers()
	return canned(m, h, err, t)
}

// NewBaseline returns an estimator of a baseline with any head.
func NewBaseline(h AnyHead, m Baseline, t Task) (*Estimator, error) { return canned(m, h, nil, t) }

func (Baseline) check() error { return nil }

func (Baseline) within(_ *Call, f func()) { f() }

func (Baseline) logits(c *Call, units int) (y tf.Output) {
	n, err := batchSize(c)
	if err != nil {
		return tf.Failed(c.Graph, "baseline", err).Output(0)
	}
	vars.Scope(c.Graph, "baseline", vars.ScopeOptions{}, func() {
		bias := vars.Get(c.Graph, "bias", tf.Shape{units}, vars.Options{Initializer: initializers.Zeros})
		times := ops.Concat(0, []tf.Output{n.Cast(tf.Int32).Reshape(1), ops.Const(c.Graph, []int32{1})})
		y = tf.Apply(c.Graph, "Tile", []tf.Output{bias.Value().Reshape(1, units), times}).Output(0)
		y.SetShape(tf.Shape{-1, units})
	})
	return y
}

// batchSize returns the number of examples, which all features must have.
func batchSize(c *Call) (n tf.Output, err error) {
	c.Graph.Scope("batch_size", func() {
		sizes, bad := batchSizes(c)
		if bad != nil {
			err = bad
			return
		}
		if len(sizes) == 0 {
			err = tf.Errorf(tf.InvalidArgument, "features must not be empty: a baseline learns how many examples there are from them")
			return
		}
		n = sizes[0]
		var same []*tf.Operation
		for _, m := range sizes[1:] {
			same = append(same, ops.Assert(n.Equal(m), []tf.Output{ops.Scalar(c.Graph, "all features must have the same number of examples: "), n, m}))
		}
		n = ops.Identity(n, tf.After(same...))
		err = n.Err()
	})
	return n, err
}

// batchSizes returns the first sizes of all features.
func batchSizes(c *Call) (sizes []tf.Output, err error) {
	at := ops.Scalar(c.Graph, int32(0))
	for _, key := range slices.Sorted(maps.Keys(c.Features)) {
		switch x := c.Features[key].(type) {
		case tf.Output:
			sizes = append(sizes, ops.GatherV2(ops.Shape(x, ops.ShapeOpts{OutType: tf.Int64}), at, at))
		case sparse.Tensor:
			sizes = append(sizes, ops.GatherV2(x.DenseShape, at, at))
		default:
			return nil, tf.Errorf(tf.InvalidArgument, "a feature must be a tf.Output or a sparse.Tensor, %q is a %T", key, x)
		}
	}
	return sizes, nil
}

func (m Baseline) minimize(loss tf.Output) *tf.Operation {
	if m.Optimizer == nil {
		m.Optimizer = train.FTRL{LearningRate: 0.3}
	}
	return Minimizer(m.Optimizer)(loss)
}

// The least sizes of parts of variables of columns and of layers.
const columnBytes, layerBytes = 64 << 20, 256 << 10

// partitioner returns p or, if it is nil, TensorFlow's default: as many parts as
// there are parameter servers, of a least size. A variable that is whole is a
// single part, as in TensorFlow, which shows in the names of slots.
func partitioner(c *Call, p vars.Partitioner, least int) vars.Partitioner {
	if p != nil {
		return p
	}
	servers := 0
	if cl := c.Config.Cluster; cl != nil {
		servers = len(cl.Jobs[PS])
	}
	return vars.MinMax(max(servers, 1), 0, least)
}
