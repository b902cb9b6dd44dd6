package ops

import (
	"math"
	"math/bits"

	"github.com/gorge-tf/gorge/tf"
)

func init() {
	tf.Register(tf.OpDef{
		Name: "ApproxTopK", In: "input: T", Out: "values: T; indices: int32",
		Attrs: "k: int >= 0; reduction_dimension: int = -1; recall_target: float = 0.95; is_max_k: bool = true; " +
			"reduction_input_size_override: int = -1; aggregate_to_topk: bool = true; T: {half, bfloat16, float}",
		Shape: approxTopKShape, Grad: approxTopKGrad, Kernels: tf.ByType("T", approxTopKKernels()),
	})
}

// ApproxTopKOpts are the optional attributes of ApproxTopK, for accelerators
// that find the greatest elements sooner if some of them may be missed.
type ApproxTopKOpts struct {
	RecallTarget float32 // the share to be found; 0 stands for TensorFlow's 0.95
}

// Apply sets the attributes.
func (o ApproxTopKOpts) Apply(s *tf.Spec) {
	if o.RecallTarget != 0 {
		s.Set("recall_target", o.RecallTarget)
	}
}

// ApproxTopK returns the k greatest elements along the last dimension of x, in
// descending order, and their indices. On a CPU none is missed.
func ApproxTopK(x tf.Output, k int, opts ...tf.Option) (values, indices tf.Output) {
	out := outputs(2, "ApproxTopK", attrs(opts, tf.Attr("k", k)), x)
	return out[0], out[1]
}

func approxTopKShape(c *tf.Infer) error {
	s := c.In(0).Clone()
	if s == nil {
		return nil
	}
	if len(s) == 0 {
		return tf.Errorf(tf.InvalidArgument, "Shape must be at least rank 1 but is rank 0: input is a scalar")
	}
	k, d := c.Int("k"), c.Int("reduction_dimension")
	if d < 0 {
		d += len(s)
	}
	recall := c.Float("recall_target")
	switch {
	case d < 0 || d >= len(s):
		return tf.Errorf(tf.InvalidArgument, "Invalid reduction dimension: %d. Must be within the range of [%d, %d]", c.Int("reduction_dimension"), -len(s), len(s)-1)
	case s[d] < k:
		return tf.Errorf(tf.InvalidArgument, "input must have last dimension >= k = %d but was %d", k, s[d])
	case !(recall > 0 && recall <= 1):
		return tf.Errorf(tf.InvalidArgument, "Invalid recall target: %v. Valid value range in : [0, 1.0].", recall)
	}
	if c.Bool("aggregate_to_topk") {
		s[d] = k
	} else {
		s[d] = candidatesOfTopK(s[d], k, len(s), float64(recall), c.Int("reduction_input_size_override"))
	}
	c.Set(0, s)
	c.Set(1, s)
	return nil
}

// candidatesOfTopK returns how many of n elements an accelerator leaves over if
// it need not choose among the last: TensorFlow's formula, made of the tiles
// that such a machine has.
func candidatesOfTopK(n, k, rank int, recall float64, override int) int {
	tile := 128
	if rank == 1 {
		tile = 1024
	}
	switch {
	case n <= tile || recall == 1:
		return n
	case k == 1:
		return tile
	}
	size := n
	if override >= 0 {
		size = override
	}
	least := min(max(int(float64(1-k)/math.Log(recall)), tile), n)
	halvings := bits.Len(uint(size/least)) - 1
	if halvings <= 0 {
		return n
	}
	halvings = min(halvings, bits.Len(uint(n/tile-1)))
	tiles := (n + tile - 1) / tile
	return (tiles + 1<<halvings - 1) >> halvings * tile
}

// approxTopKKernels holds the kernels of TopK, which takes k from an attribute
// too.
func approxTopKKernels() byType {
	by := byType{}
	for _, d := range []tf.DType{tf.Float16, tf.BFloat16, tf.Float32} {
		exact := topKKernels()[d]
		by[d] = func(n *tf.Node) (tf.Kernel, error) {
			if n.Int("reduction_dimension") != -1 || !n.Bool("is_max_k") {
				return nil, tf.Errorf(tf.InvalidArgument, "No OpKernel was registered to support Op 'ApproxTopK' on a CPU but for the greatest elements along dimension -1: got is_max_k=%v, reduction_dimension=%d",
					n.Bool("is_max_k"), n.Int("reduction_dimension"))
			}
			return exact(n)
		}
	}
	return by
}

// approxTopKGrad puts the gradients where the values came from.
func approxTopKGrad(op *tf.Operation, dy []tf.Output) []tf.Gradient { return topKGrad(op, dy) }
