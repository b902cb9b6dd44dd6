package random

import (
	stream "github.com/gorge-tf/gorge/internal/random"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

// The numbers of the algorithms in TensorFlow's notation. Only Philox is there
// on a CPU; Auto stands for it.
const (
	Philox = 1
	Auto   = 3
)

// checkAlgorithm also checks the counter's size. TensorFlow takes an algorithm's
// number for the size that it needs at least.
func checkAlgorithm(alg int, counter *core.Tensor) error {
	least := alg
	if alg == Auto || alg == Philox {
		least = 2
	}
	if counter.Rank() != 1 || counter.Dim(0) < least {
		return tf.Errorf(tf.InvalidArgument, "counter must be a vector with length at least %d; got shape: %s. (Note that batched counters are not supported yet.)", least, counter.Shape().String())
	}
	if alg != Philox && alg != Auto {
		return tf.Errorf(tf.InvalidArgument, "Unsupported algorithm id: %d", alg)
	}
	return nil
}

// fromSeed reads the stream of a stateless op of the first version: input 1 is
// its seed.
func fromSeed(c *core.OpContext) (stream.Philox, error) { return seedAt(c, 1) }

func seedAt(c *core.OpContext, i int) (p stream.Philox, err error) {
	t := c.Input(i)
	if t.Rank() != 1 || t.Dim(0) != 2 {
		return p, tf.Errorf(tf.InvalidArgument, "seed must have shape [2], not %s", t.Shape().String())
	}
	var s [2]int64
	switch t.DType() {
	case tf.Int64:
		copy(s[:], core.Data[int64](t))
	case tf.Int32:
		v := core.Data[int32](t)
		s = [2]int64{int64(v[0]), int64(v[1])}
	case tf.Uint32:
		v := core.Data[uint32](t)
		s = [2]int64{int64(v[0]), int64(v[1])}
	case tf.Uint64:
		v := core.Data[uint64](t)
		s = [2]int64{int64(v[0]), int64(v[1])}
	default:
		return p, tf.Errorf(tf.InvalidArgument, "Invalid seed type: %s", t.DType().CName())
	}
	return stream.FromSeed(s), nil
}

// fromKey reads the stream of a stateless op of the second version: inputs 1 to
// 3 are its key, counter and algorithm.
func fromKey(c *core.OpContext) (p stream.Philox, err error) {
	key, counter, alg := c.Input(1), c.Input(2), c.Input(3)
	switch {
	case alg.Rank() != 0:
		return p, tf.Errorf(tf.InvalidArgument, "algorithm must be of shape [], not %s", alg.Shape().String())
	case key.Rank() != 1 || key.Dim(0) != 1:
		return p, tf.Errorf(tf.InvalidArgument, "key must have shape [1], not %s. (Note that batched keys are not supported yet.)", key.Shape().String())
	}
	if err := checkAlgorithm(int(core.Data[int32](alg)[0]), counter); err != nil {
		return p, err
	}
	v := core.Data[uint64](counter)
	return stream.FromKeyCounter(core.Data[uint64](key)[0], [2]uint64{v[0], v[1]}), nil
}

func init() {
	const seed = "Tseed: {int32, int64} = int64"
	core.Register(core.OpDef{
		Name: "StatelessRandomGetKeyCounter", In: "seed: Tseed", Out: "key: uint64; counter: uint64", Attrs: seed,
		Shape: keyShape, NoGrad: core.NoGradientDefined, Kernels: core.AnyType(getKey),
	})
	core.Register(core.OpDef{
		Name: "StatelessRandomGetKeyCounterAlg", In: "seed: Tseed", Out: "key: uint64; counter: uint64; alg: int32", Attrs: seed,
		Shape: keyShape, NoGrad: core.NoGradientDefined, Kernels: core.AnyType(getKey),
	})
	core.Register(core.OpDef{
		Name: "StatelessRandomGetAlg", Out: "alg: int32", Stateful: true,
		Shape: core.ScalarShape, NoGrad: core.NoGradientDefined, Kernels: core.AnyType(getAlgorithm),
	})
}

// StatelessRandomGetKeyCounter returns the key and the counter that a seed,
// two integers, stands for. seed is int32 or int64 [2], key uint64 [1],
// counter uint64 [2]. Other shapes are refused with INVALID_ARGUMENT, when
// the graph is built if they are known, else in the step.
func StatelessRandomGetKeyCounter(seed tf.Output, opts ...tf.Option) (key, counter tf.Output) {
	o := tf.Apply(nil, "StatelessRandomGetKeyCounter", []tf.Output{seed}, opts...)
	return o.Output(0), o.Output(1)
}

// StatelessRandomGetKeyCounterAlg returns the key and the counter that a seed
// stands for, and the algorithm that this machine prefers. seed is int32 or
// int64 [2], key uint64 [1], counter uint64 [2], alg an int32 scalar. Other
// shapes are refused with INVALID_ARGUMENT, when the graph is built if they
// are known, else in the step.
func StatelessRandomGetKeyCounterAlg(seed tf.Output, opts ...tf.Option) (key, counter, alg tf.Output) {
	o := tf.Apply(nil, "StatelessRandomGetKeyCounterAlg", []tf.Output{seed}, opts...)
	return o.Output(0), o.Output(1), o.Output(2)
}

// StatelessRandomGetAlg returns the algorithm that this machine prefers:
// Philox. The result is an int32 scalar. It cannot fail.
func StatelessRandomGetAlg(g *tf.Graph, opts ...tf.Option) tf.Output {
	return tf.Apply(g, "StatelessRandomGetAlg", nil, opts...).Output(0)
}

func keyShape(c *core.Infer) error {
	s, err := c.Rank(0, 1)
	if err != nil {
		return err
	}
	if s[0] >= 0 && s[0] != 2 {
		return tf.Errorf(tf.InvalidArgument, "Dimension must be 2 but is %d: seed %v", s[0], s)
	}
	for i, s := range []tf.Shape{{1}, {2}, {}}[:c.NumOut()] {
		c.Set(i, s)
	}
	return nil
}

func getKey(*core.Node) (core.Kernel, error) {
	return core.Compute(func(c *core.OpContext) error {
		p, err := seedAt(c, 0)
		if err != nil {
			return err
		}
		key, counter := p.KeyCounter()
		for i, v := range [][]uint64{{key}, counter[:]} {
			out, err := c.Alloc(i, tf.Uint64, tf.Shape{len(v)})
			if err != nil {
				return err
			}
			copy(core.Data[uint64](out), v)
		}
		if len(c.Out) > 2 {
			return putAlgorithm(c, 2)
		}
		return nil
	}), nil
}

func getAlgorithm(*core.Node) (core.Kernel, error) {
	return core.Compute(func(c *core.OpContext) error { return putAlgorithm(c, 0) }), nil
}

func putAlgorithm(c *core.OpContext, i int) error {
	out, err := c.Alloc(i, tf.Int32, tf.Shape{})
	if err == nil {
		core.Data[int32](out)[0] = Philox
	}
	return err
}
