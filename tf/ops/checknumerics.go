package ops

import (
	"math"
	"strings"
	"sync/atomic"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

func init() {
	for _, name := range []string{"CheckNumerics", "CheckNumericsV2"} {
		signed := name == "CheckNumericsV2"
		core.Register(core.OpDef{
			Name: name, Traits: core.Awaited, In: "tensor: T", Out: "output: T", Attrs: "T: {bfloat16, half, float, double}; message: string",
			Stateful: true, Shape: core.UnchangedShape, Grad: tf.GradFunc(checkNumericsGrad),
			Kernels: core.ByType("T", byType{
				tf.Float32: checkNumerics(signed, allFinite, float32Class), tf.Float64: checkNumerics(signed, allFinite, float64Class),
				tf.Float16:  checkNumerics(signed, allFinite16[tf.Half](0x7c00), func(v tf.Half) floatClass { return bits16Class(uint16(v), 0x7c00) }),
				tf.BFloat16: checkNumerics(signed, allFinite16[tf.BF16](0x7f80), func(v tf.BF16) floatClass { return bits16Class(uint16(v), 0x7f80) }),
			}),
		})
	}
}

// CheckNumerics returns x, and fails with InvalidArgument if an element is not
// a number or infinite. The message comes first in the error's. x holds
// floating-point numbers (float16, bfloat16, float32, float64); the result has
// its shape. The gradient is checked in the same way.
func CheckNumerics(x tf.Output, message string, opts ...tf.Option) tf.Output {
	return apply("CheckNumerics", tf.Join(opts, tf.Attr("message", message)), x)
}

// CheckNumericsV2 is CheckNumerics with an error that tells the signs of
// infinities. Types and shapes are those of CheckNumerics.
func CheckNumericsV2(x tf.Output, message string, opts ...tf.Option) tf.Output {
	return apply("CheckNumericsV2", tf.Join(opts, tf.Attr("message", message)), x)
}

func checkNumericsGrad(op *tf.Operation, dy []tf.Output) []tf.Gradient {
	message := "Not a number (NaN) or infinity (Inf) values detected in gradient. " + op.Str("message")
	return tf.Grads(apply(op.OpName(), []tf.Option{tf.Attr("message", message)}, dy[0]))
}

// A floatClass is a set of the kinds of numbers that are not finite.
type floatClass uint8

const (
	negativeInf floatClass = 1 << iota
	positiveInf
	notANumber
)

func float32Class(v float32) floatClass {
	if v-v == 0 {
		return 0
	}
	return float64Class(float64(v))
}

func float64Class(v float64) floatClass {
	switch {
	case v-v == 0:
		return 0
	case math.IsInf(v, 1):
		return positiveInf
	case math.IsInf(v, -1):
		return negativeInf
	}
	return notANumber
}

// bits16Class is the class of a number of 16 bits whose exponent is all ones in
// mask.
func bits16Class(v, mask uint16) floatClass {
	switch {
	case v&mask != mask:
		return 0
	case v&0x7fff != mask:
		return notANumber
	case v>>15 != 0:
		return negativeInf
	}
	return positiveInf
}

func checkNumerics[T tf.Elem](signed bool, finite func([]T) bool, class func(T) floatClass) core.NewKernel {
	return func(n *core.Node) (core.Kernel, error) {
		message := n.Str("message")
		return core.Compute(func(c *core.OpContext) error {
			x := core.Data[T](c.Input(0))
			var unusual atomic.Bool
			c.ParallelFor(len(x), elementGrain, func(lo, hi int) {
				if !finite(x[lo:hi]) {
					unusual.Store(true)
				}
			})
			if unusual.Load() {
				var found floatClass
				for _, v := range x {
					found |= class(v)
				}
				return tf.Errorf(tf.InvalidArgument, "%s : Tensor had %s values", message, found.text(signed))
			}
			c.Forward(0, 0)
			return nil
		}), nil
	}
}

// allFinite adds up differences of numbers to themselves, which are 0 but for what is not
// finite, in sums that do not wait for each other.
func allFinite[T float32 | float64](x []T) bool {
	var a, b, c, d T
	for ; len(x) >= 4; x = x[4:] {
		a += x[0] - x[0]
		b += x[1] - x[1]
		c += x[2] - x[2]
		d += x[3] - x[3]
	}
	for _, v := range x {
		a += v - v
	}
	return a+b+c+d == 0
}

// allFinite16 returns allFinite for numbers of 16 bits whose exponent is all ones in mask.
func allFinite16[T tf.Half | tf.BF16](mask T) func(x []T) bool {
	return func(x []T) bool {
		for _, v := range x {
			if v&mask == mask {
				return false
			}
		}
		return true
	}
}

// text lists the kinds in f: "-Inf, +Inf, and NaN".
func (f floatClass) text(signed bool) string {
	var kinds []string
	switch inf := f & (negativeInf | positiveInf); {
	case inf != 0 && !signed:
		kinds = append(kinds, "Inf")
	default:
		if inf&negativeInf != 0 {
			kinds = append(kinds, "-Inf")
		}
		if inf&positiveInf != 0 {
			kinds = append(kinds, "+Inf")
		}
	}
	if f&notANumber != 0 {
		kinds = append(kinds, "NaN")
	}
	if len(kinds) == 3 {
		return kinds[0] + ", " + kinds[1] + ", and " + kinds[2]
	}
	return strings.Join(kinds, " and ")
}
