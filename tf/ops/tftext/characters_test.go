package tftext_test

import (
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/ops/tftext"
	"github.com/gorge-tf/gorge/tf/optest"
)

func init() {
	all := func(c tftext.Characters) []tf.Output {
		return []tf.Output{c.Values, c.Inner, c.Begin, c.End, c.Outer}
	}
	space := func(_ *tf.Graph, in []tf.Output) []tf.Output {
		return all(tftext.WhitespaceTokenizeWithOffsets(in[0], in[1]))
	}
	script := func(opts ...tf.Option) function {
		return func(_ *tf.Graph, in []tf.Output) []tf.Output {
			return all(tftext.UnicodeScriptTokenizeWithOffsets(in[0], in[1], opts...))
		}
	}
	chars := optest.Vec([]rune("one  two,日本 かな 3.x\u3000 \u0301é Ωα ж\u00a0  a b1 2c")...)
	n := int64(chars.Len())
	bad := optest.Vec(' ', ' ', 'a', -1, 0x110000, -1, 0xD800, ' ', 'b', ' ')
	texts := optest.Vec[int64](0, 0, 4, 5, 5, 12, n-6, n)
	for op, f := range map[string]function{"WhitespaceTokenizeWithOffsets": space, "UnicodeScriptTokenizeWithOffsets": script()} {
		optest.Add(
			sample(op, "", f, chars, texts),
			sample(op, "int32", f, chars, optest.Vec(0, int32(n))),
			sample(op, "no characters of Unicode", f, bad, optest.Vec[int64](0, 5, 10)),
			sample(op, "a part", f, chars, optest.Vec[int64](3, 9)),
		)
		none := sample(op, "no texts", f, chars, optest.Vec[int64](0)) // ends TensorFlow's process for one of the two
		none.Want = []*core.Tensor{optest.Vec[int32](), optest.Vec[int64](0), optest.Vec[int64](), optest.Vec[int64](), optest.Vec[int64](0)}
		optest.Add(none)
		refused := func(name, want string, in ...*core.Tensor) {
			optest.Add(optest.Sample{Op: op, Name: name, In: in, F: f, Types: optest.OnlyOwn, Fails: true, Refused: want})
		}
		// TensorFlow Text reads what is not its own.
		refused("splits that fall", "splits must rise from 0 to 10, the number of characters, got 2 at 1", bad, optest.Vec[int64](3, 2))
		refused("splits beyond the end", "got 11 at 1", bad, optest.Vec[int64](0, 11))
		refused("splits before the start", "got -1 at 0", bad, optest.Vec[int64](-1, 2))
		refused("no splits", "splits of one element or more", bad, optest.Vec[int64]())
	}
	keep := script(tftext.KeepWhitespace)
	optest.Add(
		sample("UnicodeScriptTokenizeWithOffsets", "white space, too", keep, chars, texts),
		sample("UnicodeScriptTokenizeWithOffsets", "white space, no characters", keep, bad, optest.Vec[int64](0, 5, 10)),
	)
}
