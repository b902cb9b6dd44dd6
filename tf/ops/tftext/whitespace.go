package tftext

import (
	"errors"

	"github.com/gorge-tf/gorge/internal/icu"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

func init() {
	core.Register(core.OpDef{
		Name: "TFText>WhitespaceTokenizeWithOffsetsV2", In: "input_values: string; input_config: string",
		Out:   "output_tokens: string; output_row_splits: int64; output_start_offsets: int32; output_end_offsets: int32",
		Shape: whitespaceShape, NoGrad: core.NoGradientDefined, Kernels: core.AnyType(whitespaceTokenize),
	})
}

// WhitespaceTokenizeWithOffsetsV2 splits the strings of x, a vector, at white
// space: config, a scalar, has a bit for each character, which is set where this is
// white space. Begin and End of the result are int32. As in TensorFlow Text a part
// ends one byte before the end of the white space behind it, so that it has the
// first bytes of white space that is more than a byte. Other shapes are refused with
// INVALID_ARGUMENT, when the graph is built if they are known, else in the step.
func WhitespaceTokenizeWithOffsetsV2(x, config tf.Output, opts ...tf.Option) Tokens {
	op := tf.Apply(nil, "TFText>WhitespaceTokenizeWithOffsetsV2", []tf.Output{x, config}, opts...)
	return Tokens{Text: op.Output(0), Splits: op.Output(1), Begin: op.Output(2), End: op.Output(3)}
}

func whitespaceShape(c *core.Infer) error {
	x, err := c.Rank(0, 1)
	if err != nil {
		return err
	}
	if _, err := c.Rank(1, 0); err != nil {
		return err
	}
	vectors(c, 0, 2, 3)
	c.Set(1, tf.Shape{oneMore(x[0])})
	return nil
}

func whitespaceTokenize(*core.Node) (core.Kernel, error) {
	return core.Compute(func(c *core.OpContext) error {
		x, config := c.Input(0), c.Input(1)
		if x.Rank() != 1 || config.Rank() != 0 {
			return invalid("the strings must be a vector and the configuration a scalar, got shapes %s and %s", x.Shape().String(), config.Shape().String())
		}
		in := core.Data[string](x)
		splits := core.Make[int64](len(in) + 1)
		space := bitset(core.Data[string](config)[0])
		var t tokens
		for i, s := range in {
			space.split(s, &t)
			splits[i+1] = int64(len(t.text))
		}
		return errors.Join(put(c, 0, t.text), put(c, 1, splits), put(c, 2, narrow(t.begin)), put(c, 3, narrow(t.end)))
	}), nil
}

// narrow returns v as int32.
func narrow(v []int64) []int32 {
	out := core.Make[int32](len(v))
	for i, x := range v {
		out[i] = int32(x)
	}
	return out
}

// A bitset has a bit for each of the first characters of Unicode.
type bitset string

func (b bitset) has(r rune) bool {
	return int(r)>>3 < len(b) && b[r>>3]&(1<<(r&7)) != 0
}

// split adds the parts of s between characters of b.
func (b bitset) split(s string, t *tokens) {
	start := -1 // of the part, -1 between parts
	for i := 0; i < len(s); {
		r, size, ok := icu.DecodeUTF8(s[i:])
		end := i + size - 1
		switch space := ok && b.has(r); {
		case space && start >= 0:
			t.add(s[start:end], start, end)
			start = -1
		case !space && start < 0:
			start = i
		}
		i += size
	}
	if start >= 0 {
		t.add(s[start:], start, len(s))
	}
}
