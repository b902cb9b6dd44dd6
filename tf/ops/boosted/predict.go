package boosted

import (
	"sync/atomic"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

func init() {
	register("BoostedTreesPredict", "tree_ensemble_handle: resource; bucketized_features: num_bucketized_features * int32", "logits: float",
		"num_bucketized_features: int >= 1; logits_dimension: int", predictShape, predictKernel)
}

// BoostedTreesPredict returns the logits of examples, float32 [examples
// dimension]: the sum of the leaves that they reach in the trees of an
// ensemble, times the weights of the trees. Such ensembles are those of
// Friedman (2001). A feature is an int32 vector with the bucket of each
// example, or a matrix with several buckets of each. Features of other ranks
// or unequal numbers of rows are refused with INVALID_ARGUMENT, when the
// graph is built if the shapes are known, else in the step; so are, in the
// step, a dimension below 1, leaves of another number of values, and trees
// that ask for features that there are not. A handle without an ensemble is
// refused with NOT_FOUND in the step.
func BoostedTreesPredict(handle tf.Output, features []tf.Output, dimension int, opts ...tf.Option) tf.Output {
	return tf.Apply(nil, "BoostedTreesPredict", append([]tf.Output{handle}, features...), tf.Join(opts, tf.Attr("logits_dimension", dimension))...).Output(0)
}

func predictShape(c *core.Infer) error {
	examples := -1
	for i := 1; i < c.NumIn(); i++ {
		s := c.In(i)
		if s == nil {
			continue
		}
		if err := checkFeature(i-1, s); err != nil {
			return err
		}
		if examples >= 0 && s[0] >= 0 && s[0] != examples {
			return invalid("all features must have a row for each example, got %d and %d", examples, s[0])
		}
		examples = max(examples, s[0])
	}
	if d, ok := c.Attr("logits_dimension").(int64); ok {
		c.Set(0, tf.Shape{examples, max(-1, int(d))})
	}
	return nil
}

func checkFeature(i int, s tf.Shape) error {
	if len(s) != 1 && len(s) != 2 {
		return invalid("a feature must be a vector or a matrix, got shape %v for feature %d", s, i)
	}
	return nil
}

func predictKernel(n *core.Node) (core.Kernel, error) {
	dimension := int(n.Int("logits_dimension"))
	if dimension < 1 {
		return nil, invalid("logits_dimension must be at least 1, got %d", dimension)
	}
	return uses(func(c *core.OpContext, e *ensemble) error { return predict(c, e.now.Load(), dimension) })(n)
}

func predict(c *core.OpContext, e *trees, dimension int) error {
	features, err := featuresOf(c)
	if err != nil {
		return err
	}
	examples := c.Input(1).Shape()[0]
	logits, err := c.Alloc(0, tf.Float32, tf.Shape{examples, dimension})
	if err != nil {
		return err
	}
	out := core.Data[float32](logits)
	var failed atomic.Pointer[error]
	c.ParallelFor(examples, 1+4096/(1+len(e.trees)), func(lo, hi int) {
		for i := lo; i < hi; i++ {
			if err := e.add(out[i*dimension:(i+1)*dimension], features, i); err != nil {
				failed.Store(&err)
				return
			}
		}
	})
	if err := failed.Load(); err != nil {
		return *err
	}
	return nil
}

// featuresOf reads the inputs behind the handle.
func featuresOf(c *core.OpContext) ([]feature, error) {
	out := make([]feature, c.Inputs()-1)
	for i := range out {
		t := c.Input(i + 1)
		s := t.Shape()
		if err := checkFeature(i, s); err != nil {
			return nil, err
		}
		if n := c.Input(1).Shape()[0]; s[0] != n {
			return nil, invalid("all features must have a row for each example, got %d and %d", n, s[0])
		}
		out[i] = feature{buckets: core.Data[int32](t), dimensions: s[1:].NumElements()}
	}
	return out, nil
}

// add sets the logits of an example to the weighted sum over all trees, in their order.
func (e *trees) add(logits []float32, features []feature, example int) error {
	clear(logits)
	for i := range e.trees {
		t := &e.trees[i]
		leaf, err := t.leaf(features, example)
		if err != nil {
			return err
		}
		if len(leaf) != len(logits) {
			return invalid("leaves must have a value for each logit, got %d for %d", len(leaf), len(logits))
		}
		for j, v := range leaf {
			logits[j] += float32(t.weight * v) // rounded first, on every architecture
		}
	}
	return nil
}
