package random

import (
	"errors"

	"github.com/gorge-tf/gorge/internal/kernel/elementwise"
	stream "github.com/gorge-tf/gorge/internal/random"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

func init() {
	core.Register(core.OpDef{
		Name: "ParameterizedTruncatedNormal", Traits: core.Droppable, In: "shape: T; means: dtype; stdevs: dtype; minvals: dtype; maxvals: dtype", Out: "output: dtype",
		Attrs: "seed: int = 0; seed2: int = 0; dtype: {half, bfloat16, float, double}; T: {int32, int64}", Stateful: true,
		Shape: boundedShape, NoGrad: core.NotDifferentiable, Kernels: core.ByType("dtype", oneFor(parameterized, precise...)),
	})
	core.Register(core.OpDef{
		Name: "StatelessParameterizedTruncatedNormal",
		In:   "shape: S; seed: Tseed; means: dtype; stddevs: dtype; minvals: dtype; maxvals: dtype", Out: "output: dtype",
		Attrs: "S: {int32, int64}; Tseed: {int32, int64} = int64; dtype: {half, float, double}",
		Shape: statelessBoundedShape, NoGrad: core.NoGradientDefined, Kernels: core.ByType("dtype", oneFor(parameterizedStateless, precise...)),
	})
}

// precise are the types that a stream.Precision stands for.
var precise = []tf.DType{tf.Float16, tf.Float32, tf.Float64}

func precisionOf(d tf.DType) *stream.Precision {
	switch d {
	case tf.Float16:
		return stream.Half
	case tf.Float32:
		return stream.Single
	}
	return stream.Double
}

// ParameterizedTruncatedNormal returns normal numbers without those beyond
// low and high, in a tensor of the given shape, a vector. The parameters are
// scalars or have a value for each row. The method is rejection (Robert,
// 1995). shape is an int32 or int64 vector of sizes that are not negative,
// and it is not empty; the parameters have one type, float16, float32 or
// float64, which the result keeps. Other shapes are refused with
// INVALID_ARGUMENT, when the graph is built if they are known, else in the
// step. A deviation that is not positive, a low that is not less than high,
// and bounds that are both infinite fail with INVALID_ARGUMENT in the step;
// too many numbers beyond the bounds in a row fail with INTERNAL. Option
// ops.RandomOpts sets the seed.
func ParameterizedTruncatedNormal(shape, mean, deviation, low, high tf.Output, opts ...tf.Option) tf.Output {
	return apply("ParameterizedTruncatedNormal", seeded(mean.Graph(), opts), shape, mean, deviation, low, high)
}

// StatelessParameterizedTruncatedNormal returns normal numbers without those
// beyond low and high. The parameters have shapes that, broadcast, the given
// shape ends with. Equal seeds, two integers, give equal numbers. The method
// is rejection (Robert, 1995). shape is an int32 or int64 vector of sizes
// that are not negative, seed an int32 or int64 vector [2]; the parameters
// have one type, float16, float32 or float64, which the result keeps. Other
// shapes are refused with INVALID_ARGUMENT, when the graph is built if they
// are known, else in the step. A deviation that is not positive, a low that
// is not less than high, and bounds that are both infinite fail with
// INVALID_ARGUMENT in the step; too many numbers beyond the bounds in a row
// fail with INTERNAL.
func StatelessParameterizedTruncatedNormal(shape, seed, mean, deviation, low, high tf.Output, opts ...tf.Option) tf.Output {
	return apply("StatelessParameterizedTruncatedNormal", opts, shape, seed, mean, deviation, low, high)
}

func boundedShape(c *core.Infer) error {
	for i := 1; i < 5; i++ {
		if len(c.In(i)) > 1 {
			return tf.Errorf(tf.InvalidArgument, "Shape must be at most rank 1 but is rank %d", len(c.In(i)))
		}
	}
	return shapeInput(0)(c)
}

func statelessBoundedShape(c *core.Infer) error {
	if err := seedShape(c, 1); err != nil {
		return err
	}
	s := c.In(2)
	for i := 3; i < 6; i++ {
		b, ok := tf.BroadcastShapes(s, c.In(i))
		if !ok {
			return tf.Errorf(tf.InvalidArgument, "Dimensions must be equal or 1: shapes %v and %v do not fit together", s, c.In(i))
		}
		s = b
	}
	return shapeInput(0)(c)
}

// seedShape wants two integers in input i.
func seedShape(c *core.Infer, i int) error {
	s, err := c.Rank(i, 1)
	if err == nil && s[0] >= 0 && s[0] != 2 {
		err = tf.Errorf(tf.InvalidArgument, "Dimension must be 2 but is %d: seed %v", s[0], s)
	}
	return err
}

// boundedNames are the names of the parameters in messages.
var boundedNames = [...]string{"means", "stddevs", "minvals", "maxvals"}

// commonBatch is how many samples make a batch where all have the same
// parameters. It decides how much of the stream a run takes.
const commonBatch = 100

func parameterized(n *core.Node) (core.Kernel, error) {
	g, d := generator(n), n.Type("dtype")
	return core.Compute(func(c *core.OpContext) error {
		s, err := sizes(c, 0)
		if err != nil {
			return err
		}
		if len(s) == 0 {
			return tf.Errorf(tf.InvalidArgument, "Shape tensor must not be empty, got Tensor<type: %s shape: [0] values: >", c.Input(0).DType().CName())
		}
		out, err := c.Alloc(0, d, s)
		if err != nil {
			return err
		}
		batches, each, err := boundedBatches(c, s, out.Len())
		if err != nil {
			return err
		}
		p := g.ReserveBlocks(uint64(batches) * 2 * 1000 * uint64(each+3) / 4)
		of, values := precisionOf(d), core.Borrow[float64](c, out.Len())
		params := boundedParameters(c, 1)
		for b := range batches {
			part := values[min(b*each, len(values)):min((b+1)*each, len(values))]
			if err := told(params(b).Fill(&p, of, part)); err != nil {
				return err
			}
		}
		elementwise.Cast(elements(out), values)
		return nil
	}), nil
}

// boundedBatches checks the parameters of an output of shape s, and returns how
// many batches of how many samples each there are.
func boundedBatches(c *core.OpContext, s tf.Shape, n int) (batches, each int, err error) {
	common := true
	for i, name := range boundedNames {
		t := c.Input(i + 1)
		if t.Rank() > 1 {
			return 0, 0, tf.Errorf(tf.InvalidArgument, "Input %s should be a scalar or vector, got shape: %s", name, t.Shape().String())
		}
		common = common && (t.Rank() == 0 || i < 2 && t.Len() == 1)
	}
	if common {
		return (n + commonBatch - 1) / commonBatch, commonBatch, nil
	}
	for i, name := range boundedNames {
		if t := c.Input(i + 1); t.Len() != 1 && t.Len() != s[0] {
			return 0, 0, tf.Errorf(tf.InvalidArgument, "Input %s should have length 1 or shape[0], got shape: %s", name, t.Shape().String())
		}
	}
	return s[0], n / max(s[0], 1), nil
}

// boundedParameters returns the parameters by batch. They begin at input at.
func boundedParameters(c *core.OpContext, at int) func(b int) stream.Bounded {
	var v [4][]float64
	for i := range v {
		v[i] = numbers(c.Input(at + i))
	}
	return func(b int) stream.Bounded {
		return stream.Bounded{Mean: one(v[0], b), Deviation: one(v[1], b), Low: one(v[2], b), High: one(v[3], b)}
	}
}

// told gives an error of a sampler its code.
func told(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, stream.ErrParameters):
		return tf.Errorf(tf.InvalidArgument, "%v", err)
	}
	return tf.Errorf(tf.Internal, "%v", err)
}

func parameterizedStateless(n *core.Node) (core.Kernel, error) {
	d := n.Type("dtype")
	return core.Compute(func(c *core.OpContext) error {
		p, err := fromSeed(c)
		if err != nil {
			return err
		}
		params, s, err := broadcastInputs(c, 2, 4)
		if err != nil {
			return tf.Errorf(tf.InvalidArgument, "means, stddevs, minvals, maxvals must have compatible batch dimensions: %v", err)
		}
		out, err := givenOutput(c, 0, d, s)
		if err != nil || out.Len() == 0 {
			return err
		}
		of, batches := precisionOf(d), s.NumElements()
		values, part := core.Borrow[float64](c, out.Len()), core.Borrow[float64](c, out.Len()/batches)
		for b := range batches {
			one := stream.Bounded{Mean: params[0][b], Deviation: params[1][b], Low: params[2][b], High: params[3][b]}
			if err := told(one.Fill(&p, of, part)); err != nil {
				return err
			}
			for i, v := range part {
				values[i*batches+b] = v
			}
		}
		elementwise.Cast(elements(out), values)
		return nil
	}), nil
}
