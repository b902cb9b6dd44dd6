package parsing

import (
	"sync/atomic"

	"github.com/gorge-tf/gorge/internal/numeric"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

func init() {
	register("StringToNumber", "string_tensor: string", "output: out_type", "out_type: {float, double, int32, int64, uint32, uint64} = DT_FLOAT", sameShape,
		core.ByType("out_type", map[tf.DType]core.NewKernel{
			tf.Float32: toNumbers(parseFloat32), tf.Float64: toNumbers(parseFloat64), tf.Int32: toNumbers(parseInt32), tf.Int64: toNumbers(parseInt64),
			tf.Uint32: toNumbers(parseUint32), tf.Uint64: toNumbers(parseUint64),
		}))
}

// NumberType is the optional attribute of StringToNumber: the type of the
// numbers, float32 if not given.
type NumberType tf.DType

// Apply sets the attribute.
func (d NumberType) Apply(s *tf.Spec) {
	if d != NumberType(tf.Invalid) {
		s.Set("out_type", tf.DType(d))
	}
}

// StringToNumber returns the numbers that strings spell, in a tensor of their
// shape. Spaces around a number do no harm. The types are float32, float64,
// int32, int64, uint32 and uint64. Floating-point numbers may be "inf", "nan"
// or hexadecimal, and what is too large becomes infinite; integers are
// decimal. A string that spells no number of the type, or an integer out of
// its range, is refused with INVALID_ARGUMENT in the step.
// Its options are [NumberType].
func StringToNumber(x tf.Output, opts ...tf.Option) tf.Output {
	return apply("StringToNumber", opts, x)
}

func sameShape(c *core.Infer) error {
	c.Set(0, c.In(0))
	return nil
}

func toNumbers[T tf.Elem](parse func(string) (T, bool)) core.NewKernel {
	return func(*core.Node) (core.Kernel, error) {
		return core.Compute(func(c *core.OpContext) error {
			in := core.Data[string](c.Input(0))
			t, err := c.Alloc(0, tf.TypeOf[T](), c.Input(0).Shape())
			if err != nil {
				return err
			}
			out := core.Data[T](t)
			var wrong atomic.Bool
			const grain = 1 << 10
			c.ParallelFor(len(in), grain, func(lo, hi int) {
				for i, s := range in[lo:hi] {
					v, ok := parse(s)
					if !ok {
						wrong.Store(true)
						return
					}
					out[lo+i] = v
				}
			})
			if wrong.Load() {
				return firstWrong(in, parse)
			}
			return nil
		}), nil
	}
}

// firstWrong returns the error of the first text that is no number.
func firstWrong[T any](texts []string, parse func(string) (T, bool)) error {
	for _, s := range texts {
		if _, ok := parse(s); !ok {
			return tf.Errorf(tf.InvalidArgument, "StringToNumberOp could not correctly convert string: %s", s)
		}
	}
	return nil
}

func parseInt32(s string) (int32, bool) {
	v, ok := numeric.ParseInt(s, 32)
	return int32(v), ok
}

func parseInt64(s string) (int64, bool) { return numeric.ParseInt(s, 64) }

func parseUint32(s string) (uint32, bool) {
	v, ok := numeric.ParseUint(s, 32)
	return uint32(v), ok
}

func parseUint64(s string) (uint64, bool) { return numeric.ParseUint(s, 64) }

func parseFloat32(s string) (float32, bool) {
	v, ok := numeric.ParseFloat(s, 32)
	return float32(v), ok
}

func parseFloat64(s string) (float64, bool) { return numeric.ParseFloat(s, 64) }
