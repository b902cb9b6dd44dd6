package text

import (
	"github.com/gorge-tf/gorge/internal/icu"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

func init() {
	core.Register(core.OpDef{
		Name: "UnicodeScript", In: "input: int32", Out: "output: int32",
		Shape: core.UnchangedShape, NoGrad: core.NoGradientDefined, Kernels: core.AnyType(unicodeScript),
	})
}

// UnicodeScript returns the scripts that characters, int32, belong to, in the
// numbers of ICU's UScriptCode; -1 for what is no character. The result,
// int32, has the shape of x. The scripts are those of Unicode 13; a character
// without one gets 103, unknown. Other types are refused with INVALID_ARGUMENT
// when the graph is built.
func UnicodeScript(x tf.Output, opts ...tf.Option) tf.Output { return apply("UnicodeScript", opts, x) }

// lastScript is the greatest number of Unicode 13's, which TensorFlow knows.
const lastScript = 192

// scriptOf returns the number of the script that r belongs to.
func scriptOf(r int32) int32 {
	if s := icu.Script(r); s <= lastScript {
		return s
	}
	return icu.UnknownScript
}

func unicodeScript(*core.Node) (core.Kernel, error) {
	return core.Compute(func(c *core.OpContext) error {
		in := c.Input(0)
		out, err := c.Alloc(0, tf.Int32, in.Shape())
		if err != nil {
			return err
		}
		x, y := core.Data[int32](in), core.Data[int32](out)
		c.ParallelFor(len(y), 4*grain, func(lo, hi int) {
			for i := lo; i < hi; i++ {
				y[i] = scriptOf(x[i])
			}
		})
		return nil
	}), nil
}
