package text

import (
	"cmp"
	"slices"

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

// newer has the first and the last of code points in a row that Unicode 13 gives no script but
// later versions, Go's among them, do.
var newer = [][2]int32{
	{0x61D, 0x61D}, {0x870, 0x89F}, {0x8B5, 0x8B5}, {0x8C8, 0x8D2}, {0xC3C, 0xC3C}, {0xC5D, 0xC5D},
	{0xCDD, 0xCDD}, {0xCF3, 0xCF3}, {0xECE, 0xECE}, {0x170D, 0x170D}, {0x1715, 0x171F}, {0x180F, 0x180F},
	{0x1AC1, 0x1ACE}, {0x1B4C, 0x1B4C}, {0x1B7D, 0x1B7E}, {0x1DFA, 0x1DFA}, {0x20C0, 0x20C0}, {0x2C2F, 0x2C2F},
	{0x2C5F, 0x2C5F}, {0x2E53, 0x2E5D}, {0x9FFD, 0x9FFF}, {0xA7C0, 0xA7C1}, {0xA7D0, 0xA7F4}, {0xFBC2, 0xFBC2},
	{0xFD40, 0xFD4F}, {0xFDCF, 0xFDCF}, {0xFDFE, 0xFDFF}, {0x10780, 0x107BA}, {0x10EFD, 0x10EFF}, {0x11070, 0x11075},
	{0x110C2, 0x110C2}, {0x1123F, 0x11241}, {0x116B9, 0x116B9}, {0x11740, 0x11746}, {0x11AB0, 0x11ABF}, {0x11B00, 0x11B09},
	{0x1342F, 0x1342F}, {0x13439, 0x13455}, {0x1AFF0, 0x1AFFE}, {0x1B11F, 0x1B132}, {0x1B155, 0x1B155}, {0x1CF00, 0x1CFC3},
	{0x1D1E9, 0x1D1EA}, {0x1D2C0, 0x1D2D3}, {0x1DF00, 0x1DF2A}, {0x1E030, 0x1E08F}, {0x1E7E0, 0x1E7FE}, {0x1F6DC, 0x1F6DF},
	{0x1F774, 0x1F77F}, {0x1F7D9, 0x1F7D9}, {0x1F7F0, 0x1F7F0}, {0x1F979, 0x1F979}, {0x1F9CC, 0x1F9CC}, {0x1FA75, 0x1FA77},
	{0x1FA7B, 0x1FA7C}, {0x1FA87, 0x1FA88}, {0x1FAA9, 0x1FAAF}, {0x1FAB7, 0x1FABF}, {0x1FAC3, 0x1FACF}, {0x1FAD7, 0x1FAF8},
	{0x2A6DE, 0x2A6DF}, {0x2B735, 0x2B739}, {0x31350, 0x323AF},
}

// scriptOf returns the number of the script that r belongs to.
func scriptOf(r int32) int32 {
	if r == 0x16FE2 || r == 0x16FE3 { // of Chinese since Unicode 14, common before
		return 0
	}
	_, isNewer := slices.BinarySearchFunc(newer, r, func(s [2]int32, r int32) int {
		if s[0] <= r && r <= s[1] {
			return 0
		}
		return cmp.Compare(s[0], r)
	})
	if s := icu.Script(r); s <= lastScript && !isNewer {
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
