package tftext

import (
	"errors"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/ops/lookup"
)

func init() {
	core.Register(core.OpDef{
		Name: "WordpieceTokenizeWithOffsets", In: "input_values: string; vocab_lookup_table: resource", Stateful: true,
		Out: "output_values: string; output_row_lengths: int64; start_values: int64; limit_values: int64",
		Attrs: "suffix_indicator: string; max_bytes_per_word: int; max_chars_per_token: int = 0; use_unknown_token: bool; unknown_token: string; " +
			"split_unknown_characters: bool = false; output_row_partition_type: {'row_lengths', 'row_splits'} = 'row_lengths'",
		Shape: wordpieceShape, NoGrad: core.NoGradientDefined, Kernels: core.AnyType(wordpiece),
	})
}

// WordpieceOpts are the attributes of WordpieceTokenizeWithOffsets. Suffix, "##"
// with BERT, is written before pieces that do not begin a word. A word of more
// than MaxBytes bytes is unknown, and a piece has at most MaxChars characters, if
// that is positive. What is unknown becomes Unknown, or stays as it is if Unknown
// is empty: a whole word, or its single characters with SplitUnknown.
type WordpieceOpts struct {
	Suffix             string
	MaxBytes, MaxChars int
	Unknown            string
	SplitUnknown       bool
	RowLengths         bool // Splits has the number of pieces of each word instead
}

// Apply sets the attributes.
func (o WordpieceOpts) Apply(s *tf.Spec) {
	s.Set("suffix_indicator", o.Suffix)
	s.Set("max_bytes_per_word", o.MaxBytes)
	s.Set("max_chars_per_token", o.MaxChars)
	s.Set("use_unknown_token", o.Unknown != "")
	s.Set("unknown_token", o.Unknown)
	s.Set("split_unknown_characters", o.SplitUnknown)
	s.Set("output_row_partition_type", partitions[o.RowLengths])
}

var partitions = map[bool]string{true: "row_lengths", false: rowSplits}

const rowSplits = "row_splits"

// WordpieceTokenizeWithOffsets splits the words of x, a vector, into pieces that
// are in vocabulary, the handle of a table from strings to int64 other than -1:
// from left to right, each as long as possible. Begin and End are bytes of the
// word; End of an unknown word that has more than MaxBytes bytes is the length of
// Unknown. An x that is no vector is refused with INVALID_ARGUMENT when the graph
// is built if its shape is known; a table of other types, and one that is not
// filled, with INVALID_ARGUMENT in the step. Its options are [WordpieceOpts].
func WordpieceTokenizeWithOffsets(x, vocabulary tf.Output, o WordpieceOpts, opts ...tf.Option) Tokens {
	op := tf.Apply(nil, "WordpieceTokenizeWithOffsets", []tf.Output{x, vocabulary}, tf.Join(opts, o)...)
	return Tokens{Text: op.Output(0), Splits: op.Output(1), Begin: op.Output(2), End: op.Output(3)}
}

func wordpieceShape(c *core.Infer) error {
	words, err := c.Rank(0, 1)
	if err != nil {
		return err
	}
	if _, err := c.Rank(1, 0); err != nil {
		return err
	}
	vectors(c, 0, 2, 3)
	n := words[0]
	if c.Str("output_row_partition_type") == rowSplits {
		n = oneMore(n)
	}
	c.Set(1, tf.Shape{n})
	return nil
}

func wordpiece(n *core.Node) (core.Kernel, error) {
	p := pieces{
		suffix: n.Str("suffix_indicator"), unknown: n.Str("unknown_token"), useUnknown: n.Bool("use_unknown_token"),
		split: n.Bool("split_unknown_characters"), maxBytes: n.Int("max_bytes_per_word"), maxChars: n.Int("max_chars_per_token"),
	}
	for _, name := range []string{"max_bytes_per_word", "max_chars_per_token"} {
		if v := n.Int(name); v != int(int32(v)) {
			return nil, invalid("Attr %s has value %d out of range for an int32", name, v)
		}
	}
	splits := n.Str("output_row_partition_type") == rowSplits
	return core.Compute(func(c *core.OpContext) error {
		number, err := lookup.Numbers(c, 1, absent)
		if err != nil {
			return err
		}
		return p.all(c, func(word string) (bool, error) {
			v, err := number(word)
			if err != nil {
				return false, sayInvalid(err)
			}
			return v != absent, nil
		}, splits)
	}), nil
}

// sayInvalid returns an error with the code that TensorFlow Text gives all errors of
// tables.
func sayInvalid(err error) error {
	var e *tf.Error
	if errors.As(err, &e) {
		return invalid("%s", e.Message())
	}
	return err
}

// absent is the number of words that are not in a vocabulary.
const absent = -1

// all splits every word of input 0.
func (p *pieces) all(c *core.OpContext, has func(string) (bool, error), splits bool) error {
	words := core.Data[string](c.Input(0))
	rows := core.Make[int64](len(words) + 1)
	var t tokens
	for i, w := range words {
		if err := p.tokenize(w, has, &t); err != nil {
			return err
		}
		rows[i+1] = int64(len(t.text))
	}
	if !splits {
		for i := range words {
			rows[i] = rows[i+1] - rows[i]
		}
		rows = rows[:len(words)]
	}
	return errors.Join(put(c, 0, t.text), put(c, 1, rows), put(c, 2, t.begin), put(c, 3, t.end))
}
