package tftext

import (
	"errors"
	"strings"
	"sync/atomic"

	"github.com/gorge-tf/gorge/internal/re2"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

func init() {
	core.Register(core.OpDef{
		Name: "RegexSplitWithOffsets", In: "input: string; delim_regex_pattern: string; keep_delim_regex_pattern: string",
		Out:   "tokens: string; begin_offsets: int64; end_offsets: int64; row_splits: int64",
		Shape: regexSplitShape, NoGrad: core.NoGradientDefined, Kernels: core.AnyType(regexSplit),
	})
}

// Tokens are the parts of strings: Text is a vector, Begin and End, of int64, say
// where in its string each part is, and Splits, of int64, where the parts of each
// string begin and end in these vectors.
type Tokens struct{ Text, Begin, End, Splits tf.Output }

// RegexSplitWithOffsets splits the strings of x, a vector, where delim matches, a
// scalar in RE2's syntax that has a group: what the group matches is the
// delimiter. Delimiters that keep matches as a whole, another scalar, are parts,
// too; none is if keep is empty. Parts that are empty are dropped, and strings
// end at their first byte 0. Other shapes are refused with INVALID_ARGUMENT, when
// the graph is built if they are known, else in the step; so are, in the step,
// patterns that have errors, matches that are empty, for which TensorFlow Text
// does not end, and matches that the group has no part in.
func RegexSplitWithOffsets(x, delim, keep tf.Output, opts ...tf.Option) Tokens {
	op := tf.Apply(nil, "RegexSplitWithOffsets", []tf.Output{x, delim, keep}, opts...)
	return Tokens{op.Output(0), op.Output(1), op.Output(2), op.Output(3)}
}

func regexSplitShape(c *core.Infer) error {
	for i, rank := range []int{1, 0, 0} {
		if _, err := c.Rank(i, rank); err != nil {
			return err
		}
	}
	vectors(c, 0, 1, 2, 3)
	return nil
}

func regexSplit(*core.Node) (core.Kernel, error) {
	delim, keep := &patternCache{compile: re2.Compile}, &patternCache{compile: re2.CompileWhole}
	return core.Compute(func(c *core.OpContext) (err error) {
		var p splitter
		if p.delim, _, err = delim.of(c.Input(1)); err != nil {
			return err
		}
		whole, expr, err := keep.of(c.Input(2))
		if err != nil {
			return err
		}
		if expr != "" {
			p.keep = whole
		}
		return p.all(c)
	}), nil
}

// A patternCache keeps the last pattern, which most steps have in common.
type patternCache struct {
	compile func(string) (*re2.Pattern, error)
	last    atomic.Pointer[compiled]
}

type compiled struct {
	expr string
	re   *re2.Pattern
}

// of compiles the expression that t has to be.
func (p *patternCache) of(t *core.Tensor) (re *re2.Pattern, expr string, err error) {
	if t.Rank() != 0 {
		return nil, "", invalid("Pattern must be scalar, but received %s", t.Shape().String())
	}
	expr = core.Data[string](t)[0]
	if last := p.last.Load(); last != nil && last.expr == expr {
		return last.re, expr, nil
	}
	if re, err = p.compile(expr); err != nil {
		return nil, "", invalid("Invalid pattern: %s, error: %s", expr, re2.Describe(err))
	}
	p.last.Store(&compiled{expr, re})
	return re, expr, nil
}

// A splitter splits strings at delimiters.
type splitter struct {
	delim, keep *re2.Pattern // keep is nil if no delimiter is kept
}

// all splits every string of input 0.
func (p *splitter) all(c *core.OpContext) error {
	var t tokens
	in := core.Data[string](c.Input(0))
	splits := core.Make[int64](len(in) + 1)
	for i, s := range in {
		if err := p.split(s, &t); err != nil {
			return err
		}
		splits[i+1] = int64(len(t.text))
	}
	return errors.Join(put(c, 0, t.text), put(c, 1, t.begin), put(c, 2, t.end), put(c, 3, splits))
}

// split adds the parts of s to t.
func (p *splitter) split(s string, t *tokens) error {
	s, _, _ = strings.Cut(s, "\x00") // TensorFlow Text reads a C string
	re := p.delim.For(s)
	end := 0 // of the last match
	for p.delim.Groups() > 0 {
		m := re.FindStringSubmatchIndex(s[end:])
		if m == nil {
			break
		}
		if m[1] == 0 {
			return invalid("the pattern of delimiters must not match an empty text, at byte %d it does", end)
		}
		if m[2] < 0 {
			return invalid("the first group of the pattern of delimiters must be in each match, at byte %d it is not", end+m[0])
		}
		p.cut(s, end, end+m[2], end+m[3], t)
		end += m[1]
	}
	if end < len(s) {
		t.add(s[end:], end, len(s))
	}
	return nil
}

// cut adds what is between the last match and a delimiter, and the delimiter if
// it is kept.
func (p *splitter) cut(s string, last, from, to int, t *tokens) {
	if from > last {
		t.add(s[last:from], last, from)
	}
	if p.keep != nil && p.keep.For(s[from:to]).MatchString(s[from:to]) {
		t.add(s[from:to], from, to)
	}
}
