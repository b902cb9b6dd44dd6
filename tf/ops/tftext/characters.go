package tftext

import (
	"errors"
	"unicode"

	"github.com/gorge-tf/gorge/internal/icu"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

func init() {
	register := func(name, attrs string, k core.NewKernel) {
		core.Register(core.OpDef{
			Name: name, In: "input_values: int32; input_splits: Tsplits",
			Out: "output_values: int32; output_values_inner_splits: Tsplits; output_offset_starts: int64; output_offset_limits: int64; " +
				"output_outer_splits: Tsplits",
			Attrs: "Tsplits: {int32, int64} = DT_INT64" + attrs, Shape: charactersShape, NoGrad: core.NoGradientDefined,
			Kernels: core.ByType("Tsplits", map[tf.DType]core.NewKernel{tf.Int32: k, tf.Int64: k}),
		})
	}
	register("WhitespaceTokenizeWithOffsets", "", whitespaceCharacters)
	register("UnicodeScriptTokenizeWithOffsets", "; keep_whitespace: bool = false", scriptCharacters)
}

// Characters are the parts of texts that are characters, int32: those of part i are
// Values[Inner[i]:Inner[i+1]], and it is from character Begin[i] to End[i], int64,
// of its text. The parts of text j are Outer[j] to Outer[j+1].
type Characters struct{ Values, Inner, Begin, End, Outer tf.Output }

// KeepWhitespace makes UnicodeScriptTokenizeWithOffsets keep white space, in parts
// of its own.
var KeepWhitespace tf.Option = tf.Attr("keep_whitespace", true)

// WhitespaceTokenizeWithOffsets splits texts at white space. Their characters are
// chars, an int32 vector; splits, a vector of int32 or int64, says where each
// text begins and ends. Other shapes are refused with INVALID_ARGUMENT, when the
// graph is built if they are known, else in the step; so are, in the step, splits
// that fall or are not within chars.
func WhitespaceTokenizeWithOffsets(chars, splits tf.Output, opts ...tf.Option) Characters {
	return charactersOf(tf.Apply(nil, "WhitespaceTokenizeWithOffsets", []tf.Output{chars, splits}, opts...))
}

// UnicodeScriptTokenizeWithOffsets splits texts at white space and where the next
// character belongs to another script, as Latin and Han; a space is common to all
// scripts, and so is a digit. Its arguments and errors, such as INVALID_ARGUMENT
// for splits that fall, are those of WhitespaceTokenizeWithOffsets. Its option is
// [KeepWhitespace].
func UnicodeScriptTokenizeWithOffsets(chars, splits tf.Output, opts ...tf.Option) Characters {
	return charactersOf(tf.Apply(nil, "UnicodeScriptTokenizeWithOffsets", []tf.Output{chars, splits}, opts...))
}

func charactersOf(op *tf.Operation) Characters {
	return Characters{op.Output(0), op.Output(1), op.Output(2), op.Output(3), op.Output(4)}
}

func charactersShape(c *core.Infer) error {
	for i := range 2 {
		if _, err := c.Rank(i, 1); err != nil {
			return err
		}
	}
	vectors(c, 0, 1, 2, 3, 4)
	return nil
}

func isSpace(r int32) bool { return unicode.Is(unicode.White_Space, r) }

func whitespaceCharacters(n *core.Node) (core.Kernel, error) {
	return divide(n, false, func(r int32) int32 {
		if isSpace(r) {
			return 1
		}
		return 0
	}), nil
}

func scriptCharacters(n *core.Node) (core.Kernel, error) {
	return divide(n, n.Bool("keep_whitespace"), icu.Script), nil
}

// divide makes a kernel that divides texts where class changes.
func divide(n *core.Node, keep bool, class func(int32) int32) core.Kernel {
	d := n.Type("Tsplits")
	return core.Compute(func(c *core.OpContext) error {
		chars := core.Data[int32](c.Input(0))
		rows, err := rowsOf(c.Input(0), c.Input(1))
		if err != nil {
			return err
		}
		p := divider{keep: keep, class: class}
		outer := core.Make[int](len(rows))
		for i := range len(rows) - 1 {
			p.divide(chars[rows[i]:rows[i+1]])
			outer[i+1] = len(p.starts)
		}
		p.inner = append(p.inner, len(p.values))
		return errors.Join(put(c, 0, p.values), putInts(c, 1, d, p.inner), putInts(c, 2, tf.Int64, p.starts), putInts(c, 3, tf.Int64, p.limits),
			putInts(c, 4, d, outer))
	})
}

// rowsOf checks where texts begin and end.
func rowsOf(chars, splits *core.Tensor) ([]int, error) {
	if chars.Rank() != 1 || splits.Rank() != 1 || splits.Len() == 0 {
		return nil, invalid("characters and splits must be vectors, splits of one element or more, got shapes %s and %s", chars.Shape().String(), splits.Shape().String())
	}
	rows, err := splits.Ints()
	if err != nil {
		return nil, err
	}
	last := 0
	for i, r := range rows {
		if r < last || r > chars.Len() {
			return nil, invalid("splits must rise from 0 to %d, the number of characters, got %d at %d", chars.Len(), r, i)
		}
		last = r
	}
	return rows, nil
}

// putInts makes output i a vector of v in type d, int32 or int64.
func putInts(c *core.OpContext, i int, d tf.DType, v []int) error {
	wide := core.Make[int64](len(v))
	for k, x := range v {
		wide[k] = int64(x)
	}
	if d == tf.Int32 {
		return put(c, i, narrow(wide))
	}
	return put(c, i, wide)
}

// A divider divides texts into parts.
type divider struct {
	keep  bool // white space
	class func(int32) int32

	values                []int32
	inner, starts, limits []int
}

// noClass is the class before a text.
const noClass = -1

// divide adds the parts of a text.
func (p *divider) divide(text []int32) {
	last, open, skipped, wasSpace := int32(noClass), false, 0, false // skipped counts the spaces just before
	for i, r := range text {
		space, class := isSpace(r), p.class(r)
		if class != last || p.keep && space != wasSpace {
			if open {
				p.limits = append(p.limits, i-skipped)
			}
			last, open = class, false
		}
		if wasSpace = space; space && !p.keep {
			skipped++
			continue
		}
		skipped = 0
		if !open {
			p.starts, p.inner, open = append(p.starts, i), append(p.inner, len(p.values)), true
		}
		p.values = append(p.values, r)
	}
	if open {
		p.limits = append(p.limits, len(text)-skipped)
	}
}
