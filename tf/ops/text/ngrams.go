package text

import (
	"math"
	"slices"

	"github.com/gorge-tf/gorge/internal/memory"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

func init() {
	core.Register(core.OpDef{
		Name: "StringNGrams", In: "data: string; data_splits: Tsplits", Out: "ngrams: string; ngrams_splits: Tsplits",
		Attrs: "separator: string; ngram_widths: list(int) >= 0; left_pad: string; right_pad: string; pad_width: int; " +
			"preserve_short_sequences: bool; Tsplits: {int32, int64} = DT_INT64",
		Shape: ngramsShape, NoGrad: core.NoGradientDefined,
		Kernels: core.ByType("Tsplits", map[tf.DType]core.NewKernel{tf.Int32: ngramsKernel, tf.Int64: ngramsKernel}),
	})
}

// NGrams says how StringNGrams joins words: the numbers of words to join, what
// comes between them, and how many words are added before and behind a row, as
// many as are of use if PadWidth is negative. PreserveShort makes one n-gram of
// a row that is too short for any.
type NGrams struct {
	Separator         string
	Widths            []int
	LeftPad, RightPad string
	PadWidth          int
	PreserveShort     bool
}

// Apply sets the attributes.
func (n NGrams) Apply(s *tf.Spec) {
	s.Set("separator", n.Separator)
	s.Set("ngram_widths", n.Widths)
	s.Set("left_pad", n.LeftPad)
	s.Set("right_pad", n.RightPad)
	s.Set("pad_width", n.PadWidth)
	s.Set("preserve_short_sequences", n.PreserveShort)
}

// StringNGrams joins neighbors in the rows of a ragged matrix of words: row i
// is words[splits[i]:splits[i+1]]. It returns a ragged matrix in the same
// form. splits is int32 or int64, and the splits of the result have its type
// and length. Words and splits that are no vectors are refused with
// INVALID_ARGUMENT when the graph is built. In the step, INVALID_ARGUMENT
// refuses a width that is not positive and splits that do not begin with 0,
// rise and end with the number of words; more than 2^31 words in all n-grams
// are refused with RESOURCE_EXHAUSTED.
func StringNGrams(words, splits tf.Output, how NGrams, opts ...tf.Option) (ngrams, ngramSplits tf.Output) {
	op := tf.Apply(nil, "StringNGrams", []tf.Output{words, splits}, tf.Join(opts, how)...)
	return op.Output(0), op.Output(1)
}

func ngramsShape(c *core.Infer) error {
	if _, err := c.Rank(0, 1); err != nil {
		return err
	}
	s, err := c.Rank(1, 1)
	c.Set(0, tf.Shape{-1})
	c.Set(1, s)
	return err
}

func ngramsKernel(n *core.Node) (core.Kernel, error) {
	if err := n.CheckInt32s("ngram_widths", "pad_width"); err != nil {
		return nil, err
	}
	how := &NGrams{
		n.Str("separator"), n.Ints("ngram_widths"), n.Str("left_pad"), n.Str("right_pad"), n.Int("pad_width"), n.Bool("preserve_short_sequences"),
	}
	return core.Compute(how.compute), nil
}

func (n *NGrams) compute(c *core.OpContext) error {
	for _, w := range n.Widths {
		if w <= 0 {
			return invalid("ngram_widths must contain positive values")
		}
	}
	words, splits := core.Data[string](c.Input(0)), c.Input(1)
	at, err := splits.Ints()
	if err == nil {
		err = checkSplits(at, len(words))
	}
	if err != nil {
		return err
	}
	outSplits, err := c.Alloc(1, splits.DType(), splits.Shape())
	if err != nil {
		return err
	}
	ends := core.Make[int](len(at))
	if len(words) == 0 || len(at) == 0 {
		putInts(outSplits, ends)
		out, err := c.Alloc(0, tf.String, c.Input(0).Shape())
		if err == nil {
			clear(core.Data[string](out))
		}
		return err
	}
	if err := n.count(ends, at); err != nil {
		return err
	}
	putInts(outSplits, ends)
	out, err := c.Alloc(0, tf.String, tf.Shape{ends[len(ends)-1]})
	if err != nil {
		return err
	}
	y := core.Data[string](out)
	c.ParallelFor(len(at)-1, max(1, grain*len(at)/(8+len(words))), func(lo, hi int) {
		w := ngramWriter{NGrams: n}
		for i := lo; i < hi; i++ {
			w.row(y[ends[i]:ends[i+1]], words[at[i]:at[i+1]])
		}
	})
	return nil
}

// checkSplits checks that the rows cover the words.
func checkSplits(at []int, words int) error {
	if len(at) == 0 {
		return nil
	}
	if at[0] != 0 {
		return invalid("First split value must be 0, got %d", at[0])
	}
	last := 0
	for _, v := range at[1:] {
		if v < last || v > words {
			return invalid("Invalid split value %d, must be in [%d, %d]", v, last, words)
		}
		last = v
	}
	if last != words {
		return invalid("Last split value must be data size. Expected %d, got %d", words, last)
	}
	return nil
}

// pad returns how many words are added on each side for n-grams of width w:
// never as many as would make an n-gram of nothing else.
func (n *NGrams) pad(w int) int {
	if n.PadWidth < 0 {
		return w - 1
	}
	return min(n.PadWidth, w-1)
}

// number returns how many n-grams of width w a row has.
func (n *NGrams) number(row, w int) int { return max(0, row+2*n.pad(w)-w+1) }

// most limits how many words all n-grams may have, padding too: attributes
// alone, without any data, must not use up memory.
const most = 1 << 31

// count sets where the n-grams of each row begin.
func (n *NGrams) count(ends, at []int) error {
	words := 0.0
	for i := 1; i < len(at); i++ {
		row, k := at[i]-at[i-1], 0
		for _, w := range n.Widths {
			if pad := n.pad(w); pad > math.MaxInt32/2-row {
				return invalid("Pad width could lead to integer overflow, got pad_width = %d", pad)
			}
			k += n.number(row, w)
			words += float64(n.number(row, w)) * float64(w)
		}
		if n.PreserveShort && row > 0 && k == 0 {
			if n.PadWidth < 0 {
				return invalid("Pad width should be >= 0 when preserve_short_sequences is True and ngram_widths are not provided, got %d", n.PadWidth)
			}
			k, words = 1, words+float64(row)+2*float64(n.PadWidth)
		}
		if words > most {
			return tf.Errorf(tf.ResourceExhausted, "n-grams of more than %d words", most)
		}
		ends[i] = ends[i-1] + k
	}
	return nil
}

// An ngramWriter makes the n-grams of some rows.
type ngramWriter struct {
	*NGrams
	texts memory.Texts
	b     []byte
}

// row makes the n-grams of a row.
func (n *ngramWriter) row(y, words []string) {
	done := 0
	for _, w := range n.Widths {
		k := n.number(len(words), w)
		n.ngrams(y[done:done+k], words, w)
		done += k
	}
	if done < len(y) { // the row is too short for any
		n.ngrams(y[done:], words, len(words)+2*n.PadWidth)
	}
}

// ngrams makes the n-grams of width w of a row, if there are any: if not, w may be any number.
func (n *ngramWriter) ngrams(y, words []string, w int) {
	pad := n.pad(w)
	for i := range y {
		left, right := max(0, pad-i), max(0, pad-(len(y)-i-1))
		begin := max(0, i-pad)
		y[i] = n.ngram(left, words[begin:begin+w-left-right], right)
	}
}

// ngram joins words, and the padding before and behind them.
func (n *ngramWriter) ngram(left int, words []string, right int) string {
	size := left*(len(n.LeftPad)+len(n.Separator)) + right*(len(n.RightPad)+len(n.Separator))
	for _, s := range words {
		size += len(s) + len(n.Separator)
	}
	core.Room(size)
	b := slices.Grow(n.b[:0], size)
	for range left {
		b = append(append(b, n.LeftPad...), n.Separator...)
	}
	for _, s := range words {
		b = append(append(b, s...), n.Separator...)
	}
	for range right {
		b = append(append(b, n.RightPad...), n.Separator...)
	}
	n.b = b
	return n.texts.Of(b[:len(b)-len(n.Separator)])
}
