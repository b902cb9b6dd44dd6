package text

import (
	"encoding/binary"
	"math/bits"
	"strings"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

func init() {
	core.Register(core.OpDef{
		Name: "StringLength", In: "input: string", Out: "output: int32", Attrs: "unit: {'BYTE', 'UTF8_CHAR'} = 'BYTE'",
		Shape: core.UnchangedShape, NoGrad: core.NoGradientDefined, Kernels: core.AnyType(stringLength),
	})
	core.Register(core.OpDef{
		Name: "StringStrip", In: "input: string", Out: "output: string",
		Shape: core.UnchangedShape, NoGrad: core.NoGradientDefined, Kernels: core.AnyType(mapped(strip)),
	})
}

// StringLength returns the lengths of the strings of x, int32, in bytes unless
// a Unit is given. The result has the shape of x. With Characters it counts
// the bytes that begin a character of UTF-8, whether or not the text is
// well-formed. Another type of x, and a Unit that is neither Bytes nor
// Characters, are refused with INVALID_ARGUMENT when the graph is built.
func StringLength(x tf.Output, opts ...tf.Option) tf.Output { return apply("StringLength", opts, x) }

// StringStrip returns the strings of x without the white space of ASCII at
// their ends. The result has the shape of x; white space is space, tab,
// newline, vertical tab, form feed and carriage return. Another type than
// string is refused with INVALID_ARGUMENT when the graph is built.
func StringStrip(x tf.Output, opts ...tf.Option) tf.Output { return apply("StringStrip", opts, x) }

func stringLength(n *core.Node) (core.Kernel, error) {
	if n.Str("unit") == string(Characters) {
		return core.Compute(func(c *core.OpContext) error { return each(c, characters) }), nil
	}
	return core.Compute(func(c *core.OpContext) error {
		out, err := c.Alloc(0, tf.Int32, c.Input(0).Shape())
		if err != nil {
			return err
		}
		in, y := core.Data[string](c.Input(0)), core.Data[int32](out)
		c.ParallelFor(len(y), lengthGrain, func(lo, hi int) {
			y := y[lo:hi]
			for i, s := range in[lo:hi] {
				y[i] = int32(len(s))
			}
		})
		return nil
	}), nil
}

// lengthGrain is the least number of lengths worth a task of their own.
const lengthGrain = 1 << 13

// characters counts the bytes of s that begin a character.
func characters(s string) int32 {
	const ones = 0x0101010101010101
	n := len(s)
	for ; len(s) >= 8; s = s[8:] {
		w := binary.LittleEndian.Uint64([]byte(s[:8]))
		n -= bits.OnesCount64(w >> 7 &^ (w >> 6) & ones)
	}
	for i := range len(s) {
		if isTrail(s[i]) {
			n--
		}
	}
	return int32(n)
}

func strip(s string) string { return strings.Trim(s, space) }
