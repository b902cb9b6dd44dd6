// Package losses has what models are trained to make small: TensorFlow's
// module tf.losses. Each loss is added to the graph's collection of losses,
// of which [Total] is the sum.
//
// Labels are the first argument, predictions or logits the second. Both have one
// shape, but for the losses that take numbers of classes as labels; shapes that
// are known to differ are refused with INVALID_ARGUMENT when the graph is built.
// Where a size is known in the step alone it is not compared, and the operands
// broadcast, as in TensorFlow: give placeholders their full rank.
//
// A loss is a scalar, unless [Options].Reduction is [None]: by default the sum
// over all elements, each multiplied by its weight, divided by the number of
// elements whose weight is not 0. Cross entropies have the type of the logits,
// floating-point numbers, to which labels are converted; all other losses are
// computed in float32 and have that type.
package losses

import (
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/ops"
)

// A Reduction says what becomes of the losses of single elements, each
// multiplied by its weight.
type Reduction uint8

const (
	// SumByNonzeroWeights is the sum divided by the number of elements whose
	// weight is not 0.
	SumByNonzeroWeights Reduction = iota
	// None leaves the losses as they are.
	None
	// Sum is their sum.
	Sum
	// SumOverBatchSize is the sum divided by the number of elements.
	SumOverBatchSize
	// Mean is the sum divided by the sum of the weights.
	Mean
)

// Names of TensorFlow's collections of losses.
const (
	Collection               = "losses"
	RegularizationCollection = "regularization_losses"
)

// Options adjust a loss.
type Options struct {
	// Weights of the elements: a scalar, or of the losses' rank with sizes
	// that are theirs or 1. All are 1 if not given.
	Weights   tf.Output
	Reduction Reduction
	// Into is the collection that the loss is added to, if it is not that of
	// all losses.
	Into string
}

func optionsOf(o []Options) Options {
	if len(o) == 0 {
		return Options{}
	}
	return o[0]
}

// Weighted multiplies losses by weights and reduces them; it is the last step
// of every loss. The result is a scalar, but for the reduction None, and has
// the type of losses. Weights that fit in no way are an INVALID_ARGUMENT.
func Weighted(losses tf.Output, o Options) tf.Output {
	if err := losses.Err(); err != nil {
		return losses
	}
	g := losses.Graph()
	var y tf.Output
	g.Scope("weighted_loss", func() {
		if o.Weights.IsZero() {
			o.Weights = ops.Scalar(g, float32(1))
		}
		check, err := checkWeights(o.Weights, losses)
		if o.Reduction > Mean {
			err = tf.Errorf(tf.InvalidArgument, "Invalid Reduction Key %d", o.Reduction)
		}
		if err != nil {
			y = tf.Failed(g, "weighted_loss", err).Output(0)
			return
		}
		g.ControlDependencies(check, func() { y = reduce(losses.Cast(tf.Float32), o).Cast(losses.DType()) })
	})
	collect(y, o.Into)
	return y
}

// collect adds a loss to a collection.
func collect(loss tf.Output, into string) {
	if into == "" {
		into = Collection
	}
	if g := loss.Graph(); g != nil && !g.IsEager() && loss.Err() == nil {
		g.AddToCollection(into, loss)
	}
}

// reduce is Weighted in float32.
func reduce(losses tf.Output, o Options) tf.Output {
	w := o.Weights.Cast(tf.Float32)
	weighted := losses.Mul(w)
	switch o.Reduction {
	case None:
		return weighted
	case Mean:
		return ops.DivNoNan(weighted.Sum(), ops.OnesLike(losses).Mul(w).Sum())
	case SumByNonzeroWeights:
		return ops.DivNoNan(weighted.Sum(), present(losses, w).Sum())
	case SumOverBatchSize:
		return ops.DivNoNan(weighted.Sum(), ops.Size(losses).Cast(tf.Float32))
	}
	return weighted.Sum()
}

// present returns 1 for every element whose weight is not 0, and 0 for others.
func present(losses, weights tf.Output) tf.Output {
	zero := ops.Scalar(losses.Graph(), float32(0))
	return weights.NotEqual(zero).Cast(tf.Float32).Mul(ops.OnesLike(losses))
}

// Losses returns the losses of a graph, without those of regularization.
func Losses(g *tf.Graph) []tf.Output { return collected(g, Collection) }

// RegularizationLosses returns what regularizers have added.
func RegularizationLosses(g *tf.Graph) []tf.Output { return collected(g, RegularizationCollection) }

func collected(g *tf.Graph, name string) (out []tf.Output) {
	for _, x := range g.Collection(name) {
		if y, ok := x.(tf.Output); ok {
			out = append(out, y)
		}
	}
	return out
}

// Total adds the sum of all losses of a graph, those of regularization
// included; a float32 0 if there are none.
func Total(g *tf.Graph) tf.Output {
	all := append(Losses(g), RegularizationLosses(g)...)
	if len(all) == 0 {
		return ops.Scalar(g, float32(0))
	}
	return ops.AddN(all, tf.Name("total_loss"))
}
