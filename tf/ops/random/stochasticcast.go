package random

import (
	"math"

	"github.com/gorge-tf/gorge/internal/kernel/elementwise"
	"github.com/gorge-tf/gorge/internal/numeric"
	stream "github.com/gorge-tf/gorge/internal/random"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

func init() {
	core.Register(core.OpDef{
		Name: "StochasticCastToInt", In: "input: Tin; key: uint64; counter: uint64; alg: int32", Out: "output: Tout",
		Attrs: "Tin: {half, bfloat16, float, double}; Tout: {int8, int16, int32}", Shape: core.UnchangedShape, NoGrad: core.NoGradientDefined,
		Kernels: core.ByType("Tin", map[tf.DType]core.NewKernel{
			tf.Float16:  stochasticCast(stochastic{stream.Group, bits16(stream.UniformHalf, halfValue), toHalf, 0}),
			tf.BFloat16: stochasticCast(stochastic{stream.Group, bits16(stream.UniformBFloat16, bfloat16Value), toBFloat16, 0}),
			tf.Float32:  stochasticCast(stochastic{stream.Group, floats32, toFloat32, 8}),
			tf.Float64:  stochasticCast(stochastic{stream.Group64, floats64, func(v float64) float64 { return v }, 4}),
		}),
	})
}

// StochasticCastToInt returns x as integers of type d. Numbers between two
// integers become the nearer one the more often the nearer they are: which
// one, the stream of key, counter and algorithm decides. x has a
// floating-point type (float16, bfloat16, float32, float64) and any shape,
// which the result keeps; d is int8, int16 or int32. NaN becomes 0, and
// numbers out of the range of d become its bounds. key is uint64 [1], counter
// a uint64 vector of 2 elements or more, alg an int32 scalar, Philox or Auto.
// Another shape or algorithm is refused with INVALID_ARGUMENT in the step.
func StochasticCastToInt(x, key, counter, alg tf.Output, d tf.DType, opts ...tf.Option) tf.Output {
	return apply("StochasticCastToInt", tf.Join(opts, tf.Attr("Tout", d)), x, key, counter, alg)
}

// stochastic is how numbers of one type are rounded.
type stochastic struct {
	group int                            // numbers of a draw
	draw  func(stream.Philox, []float64) // uniform numbers
	round func(float64) float64          // to the type
	per   int                            // elements that share a draw where TensorFlow has vector code: to int32
}

func halfValue(b uint16) float64     { return float64(numeric.Half(b).Float32()) }
func bfloat16Value(b uint16) float64 { return float64(numeric.BFloat16(b).Float32()) }
func toHalf(v float64) float64       { return float64(numeric.HalfFromFloat32(float32(v)).Float32()) }
func toBFloat16(v float64) float64   { return float64(numeric.BFloat16FromFloat32(float32(v)).Float32()) }
func toFloat32(v float64) float64    { return float64(float32(v)) }

func bits16(fill func(stream.Philox, uint64, []uint16), value func(uint16) float64) func(stream.Philox, []float64) {
	return func(p stream.Philox, out []float64) {
		var b [stream.Group]uint16
		fill(p, 0, b[:])
		for i := range out {
			out[i] = value(b[i])
		}
	}
}

func floats32(p stream.Philox, out []float64) {
	var v [stream.Group]float32
	stream.UniformFloat32(p, 0, v[:])
	for i := range out {
		out[i] = float64(v[i])
	}
}

func floats64(p stream.Philox, out []float64) { stream.UniformFloat64(p, 0, out) }

// vector is the number of elements that vector code takes at a time.
const vector = 8

// A caster rounds numbers, in order, with draws from a stream.
type caster struct {
	stochastic
	base        stream.Philox
	least, most float64
	random      [stream.Group]float64
}

// next draws uniform numbers.
func (s *caster) next() {
	s.draw(s.base, s.random[:s.group])
	s.base.Skip(1)
}

// all rounds x in place.
func (s *caster) all(x []float64, vectors bool) {
	for vectors && s.per > 0 && len(x) >= vector {
		for i := range vector {
			if i%s.per == 0 {
				s.next()
			}
			x[i] = s.at(x[i], s.random[i%s.group])
		}
		x = x[vector:]
	}
	for i, v := range x {
		if v == v && v > s.least && v < s.most && math.Floor(v) != v {
			s.next()
		}
		x[i] = s.at(v, s.random[0])
	}
}

// at rounds v by a uniform number.
func (s *caster) at(v, random float64) float64 {
	switch {
	case v != v:
		return 0
	case v >= s.most:
		return s.most
	case v <= s.least:
		return s.least
	case math.Floor(v) == v:
		return v
	case v < 0:
		return math.Floor(s.round(v + random))
	}
	return math.Floor(s.round(s.round(v+1) - random))
}

// bounds of the integers, as the type of numbers has them.
func (s *caster) bounds(d tf.DType) {
	bits := map[tf.DType]float64{tf.Int8: 7, tf.Int16: 15, tf.Int32: 31}[d]
	s.least, s.most = s.round(-math.Exp2(bits)), s.round(math.Exp2(bits)-1)
}

func stochasticCast(how stochastic) core.NewKernel {
	return func(n *core.Node) (core.Kernel, error) {
		d := n.Type("Tout")
		return core.Compute(func(c *core.OpContext) error {
			if _, err := fromKey(c); err != nil {
				return err
			}
			out, err := c.Alloc(0, d, c.Input(0).Shape())
			if err != nil {
				return err
			}
			// The counter is the key here, and the other way round.
			s := &caster{stochastic: how, base: stream.New(int64(core.Data[uint64](c.Input(2))[0]), int64(core.Data[uint64](c.Input(1))[0]))}
			s.bounds(d)
			x := core.Borrow[float64](c, out.Len())
			widen(x, c.Input(0))
			s.all(x, d == tf.Int32)
			narrow(out, x)
			return nil
		}), nil
	}
}

// widen sets x to the elements of t.
func widen(x []float64, t *core.Tensor) {
	switch t.DType() {
	case tf.Float16:
		elementwise.Cast(x, core.Data[tf.Half](t))
	case tf.BFloat16:
		elementwise.Cast(x, core.Data[tf.BF16](t))
	case tf.Float32:
		elementwise.Cast(x, core.Data[float32](t))
	default:
		copy(x, core.Data[float64](t))
	}
}

// narrow sets the elements of t to x.
func narrow(t *core.Tensor, x []float64) {
	switch t.DType() {
	case tf.Int8:
		elementwise.Cast(core.Data[int8](t), x)
	case tf.Int16:
		elementwise.Cast(core.Data[int16](t), x)
	default:
		elementwise.Cast(core.Data[int32](t), x)
	}
}
