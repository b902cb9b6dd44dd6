package tftext_test

import (
	"unicode"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/ops/tftext"
	"github.com/gorge-tf/gorge/tf/optest"
)

// spaces is the configuration that TensorFlow Text makes: a bit for each character.
func spaces() string {
	b := make([]byte, 0x3000>>3+1)
	for r := rune(0); r <= 0x3000; r++ {
		if unicode.Is(unicode.White_Space, r) {
			b[r>>3] |= 1 << (r & 7)
		}
	}
	return string(b)
}

func init() {
	f := func(_ *tf.Graph, in []tf.Output) []tf.Output {
		return parts(tftext.WhitespaceTokenizeWithOffsetsV2(in[0], in[1]))
	}
	texts := optest.Vec("", " ", "one two  three", "a\u3000b\u00a0\u2028c", "\tx\n", "a\xff b\xe3\x80", "\x00 a", "日本 語\u3000", "a\x85b\u0085c")
	op := "TFText>WhitespaceTokenizeWithOffsetsV2"
	optest.Add(
		sample(op, "", f, texts, core.Scalar(spaces())),
		sample(op, "ASCII", f, texts, core.Scalar(spaces()[:5])),
		sample(op, "no spaces", f, texts, core.Scalar("")),
		sample(op, "no strings", f, optest.Vec[string](), core.Scalar(spaces())),
	)
	refused := func(name string, in ...*core.Tensor) {
		optest.Add(optest.Sample{Op: op, Name: name, In: in, F: f, Types: optest.OnlyOwn, Fails: true,
			Refused: "the strings must be a vector and the configuration a scalar"})
	}
	refused("matrix", optest.Mat(1, "a", "b"), core.Scalar(" "))
	refused("configurations", texts, optest.Vec(" ", " "))
}
