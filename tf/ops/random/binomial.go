package random

import (
	stream "github.com/gorge-tf/gorge/internal/random"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

func init() {
	const types = "T: {half, float, double, int32, int64} = double; dtype: {half, float, double, int32, int64} = int64"
	core.Register(core.OpDef{
		Name: "StatelessRandomBinomial", In: "shape: S; seed: Tseed; counts: T; probs: T", Out: "output: dtype",
		Attrs: "S: {int32, int64}; Tseed: {int32, int64} = int64; " + types,
		Shape: statelessShape, NoGrad: core.NotDifferentiable, Kernels: core.ByType("T", oneFor(statelessBinomial, precise...)),
	})
	core.Register(core.OpDef{
		Name: "StatefulRandomBinomial", In: "resource: resource; algorithm: int64; shape: S; counts: T; probs: T", Out: "output: dtype",
		Attrs: "S: {int32, int64}; " + types, Stateful: true,
		Shape: shapeInput(2), NoGrad: core.NotDifferentiable, Kernels: core.ByType("T", oneFor(statefulBinomial, precise...)),
	})
}

// StatelessRandomBinomial returns, as type d, how many of count trials that
// have probability prob succeed, for each element of a tensor of the given
// shape, which ends with that of the parameters. Equal seeds give equal
// numbers. Where many successes are likely, the method is transformed
// rejection (Hörmann, 1993). shape is an int32 or int64 vector of sizes that
// are not negative, seed an int32 or int64 vector [2]; count and prob have
// one type, float16, float32 or float64, and broadcast. d is float16,
// float32, float64, int32 or int64. Other shapes are refused with
// INVALID_ARGUMENT, when the graph is built if they are known, else in the
// step. A count or prob of 0 or less gives 0, a prob of 1 or more gives
// count, and a prob that is NaN gives NaN.
func StatelessRandomBinomial(shape, seed, count, prob tf.Output, d tf.DType, opts ...tf.Option) tf.Output {
	return apply("StatelessRandomBinomial", tf.Join(opts, tf.Attr("dtype", d)), shape, seed, count, prob)
}

// StatefulRandomBinomial is StatelessRandomBinomial with the generator whose
// state the variable behind handle is, and which it moves on. alg is an int64
// scalar, Philox; another one fails with INVALID_ARGUMENT in the step, and a
// state that is not initialized with FAILED_PRECONDITION. Other inputs, types
// and errors are those of StatelessRandomBinomial.
func StatefulRandomBinomial(handle, alg, shape, count, prob tf.Output, d tf.DType, opts ...tf.Option) tf.Output {
	return apply("StatefulRandomBinomial", tf.Join(opts, tf.Attr("dtype", d)), handle, alg, shape, count, prob)
}

func statelessShape(c *core.Infer) error {
	if err := seedShape(c, 1); err != nil {
		return err
	}
	return shapeInput(0)(c)
}

func statelessBinomial(n *core.Node) (core.Kernel, error) {
	d := n.OutTypes[0]
	return core.Compute(func(c *core.OpContext) error {
		base, err := fromSeed(c)
		if err != nil {
			return err
		}
		return drawBinomial(c, d, 0, 2, func(int, int) (stream.Philox, error) { return base, nil })
	}), nil
}

func statefulBinomial(n *core.Node) (core.Kernel, error) {
	d := n.OutTypes[0]
	return core.Compute(func(c *core.OpContext) error {
		return drawBinomial(c, d, 2, 3, func(batches, each int) (stream.Philox, error) {
			if alg := c.Input(1); alg.Rank() != 0 {
				return stream.Philox{}, tf.Errorf(tf.InvalidArgument, "algorithm must be of shape [], not %s", alg.Shape().String())
			} else if v := core.Data[int64](alg)[0]; v != Philox {
				return stream.Philox{}, tf.Errorf(tf.InvalidArgument, "Unsupported algorithm id: %d", v)
			}
			return reserve(c, 0, uint64(batches)*2*100*uint64(each+3)/4)
		})
	}), nil
}

// drawBinomial fills the output. The inputs shape and, from at on, the
// parameters say how many batches of how many samples there are, for which base
// returns the stream.
func drawBinomial(c *core.OpContext, d tf.DType, shape, at int, base func(batches, each int) (stream.Philox, error)) error {
	params, s, err := broadcastInputs(c, at, 2)
	if err != nil {
		return tf.Errorf(tf.InvalidArgument, "counts and probs must have compatible batch dimensions: %v", err)
	}
	if t := c.Input(shape); t.Rank() != 1 {
		return tf.Errorf(tf.InvalidArgument, "Input shape should be a vector, got shape: %s", t.Shape().String())
	}
	out, err := givenOutput(c, shape, d, s)
	if err != nil {
		return err
	}
	batches := s.NumElements()
	p, err := base(batches, out.Len()/max(batches, 1))
	if err != nil {
		return err
	}
	of := precisionOf(c.Input(at).DType())
	sampled(c, out, batches, func(i, b int) float64 { return stream.Binomial(p, of, i, params[0][b], params[1][b]) })
	return nil
}
