package text

import (
	"strings"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

func init() {
	split := func(name, in, attrs string, grad core.NoGrad, k core.NewKernel) {
		core.Register(core.OpDef{
			Name: name, In: "input: string; " + in + ": string", Out: "indices: int64; values: string; shape: int64",
			Attrs: attrs, Shape: splitShape, NoGrad: grad, Kernels: core.AnyType(k),
		})
	}
	split("StringSplit", "delimiter", "skip_empty: bool = true", core.NotDifferentiable, splitKernel)
	split("StringSplitV2", "sep", "maxsplit: int = -1", core.NoGradientDefined, splitV2Kernel)
}

// Parts is a sparse matrix of the parts of strings: those of a string make a
// row.
type Parts struct{ Indices, Values, Shape tf.Output }

// SplitOpts is the optional attribute of StringSplit: KeepEmpty keeps empty
// parts.
type SplitOpts struct{ KeepEmpty bool }

// Apply sets the attribute.
func (o SplitOpts) Apply(s *tf.Spec) { s.Set("skip_empty", !o.KeepEmpty) }

// SplitV2Opts is the optional attribute of StringSplitV2: how often a string is
// split at most, if it is positive.
type SplitV2Opts struct{ MaxSplit int }

// Apply sets the attribute.
func (o SplitV2Opts) Apply(s *tf.Spec) {
	if o.MaxSplit > 0 {
		s.Set("maxsplit", o.MaxSplit)
	}
}

// StringSplit splits the strings of x, a vector, at any of the bytes of
// delimiter, a scalar; into bytes if it is empty. Indices are an int64 matrix
// of two columns, values a vector of strings, and the shape is an int64
// vector: the number of strings and the most parts that one has. Empty parts
// are dropped unless KeepEmpty is set; an empty string has none. An x that is
// no vector and a delimiter that is no scalar are refused with
// INVALID_ARGUMENT, when the graph is built if the shapes are known, else in
// the step. Its options are [SplitOpts].
func StringSplit(x, delimiter tf.Output, opts ...tf.Option) Parts {
	return partsOf(tf.Apply(nil, "StringSplit", []tf.Output{x, delimiter}, opts...))
}

// StringSplitV2 splits the strings of x, a vector, where the text sep stands;
// at runs of white space if it is empty. Empty parts are kept where sep is not
// empty, and the results have the form of those of StringSplit. An x that is
// no vector and a sep that is no scalar are refused with INVALID_ARGUMENT,
// when the graph is built if the shapes are known, else in the step.
// Its options are [SplitV2Opts].
func StringSplitV2(x, sep tf.Output, opts ...tf.Option) Parts {
	return partsOf(tf.Apply(nil, "StringSplitV2", []tf.Output{x, sep}, opts...))
}

func partsOf(op *tf.Operation) Parts { return Parts{op.Output(0), op.Output(1), op.Output(2)} }

func splitShape(c *core.Infer) error {
	if _, err := c.Rank(0, 1); err != nil {
		return err
	}
	if _, err := c.Rank(1, 0); err != nil {
		return err
	}
	c.Set(0, tf.Shape{-1, 2})
	c.Set(1, tf.Shape{-1})
	c.Set(2, tf.Shape{2})
	return nil
}

func splitKernel(n *core.Node) (core.Kernel, error) {
	keep := !n.Bool("skip_empty")
	return core.Compute(func(c *core.OpContext) error {
		return splitAll(c, "delimiter", func(by string) splitter {
			if by == "" {
				return intoBytes{}
			}
			return atBytes{bytesIn(by), keep}
		})
	}), nil
}

func splitV2Kernel(n *core.Node) (core.Kernel, error) {
	if err := n.CheckInt32s("maxsplit"); err != nil {
		return nil, err
	}
	most := n.Int("maxsplit")
	if most < 0 {
		most = -1
	}
	return core.Compute(func(c *core.OpContext) error {
		return splitAll(c, "sep", func(by string) splitter {
			if by == "" && most != 0 {
				return cutAtSpace(most)
			}
			return cutAtText(by, most)
		})
	}), nil
}

// A splitter counts the parts of s, and sets them and their indices, where s is string i.
type splitter interface {
	count(s string) int
	put(parts []string, indices []int64, s string, i int)
}

// A cutter returns where part k of s begins and ends, if it does not begin before at, and
// where the next one does not begin before. begin is negative if there is none.
type cutter func(s string, at, k int) (begin, end, next int)

// splitAll splits the strings of input 0 by input 1, which is called name in messages:
// it counts the parts before it makes the outputs.
func splitAll(c *core.OpContext, name string, splitBy func(by string) splitter) error {
	x, by := c.Input(0), c.Input(1)
	if x.Rank() != 1 {
		return invalid("input must be a vector, got shape: %s", x.Shape().String())
	}
	if by.Rank() != 0 {
		return invalid("%s must be a scalar, got shape: %s", name, by.Shape().String())
	}
	in, split := core.Data[string](x), splitBy(core.Data[string](by)[0])
	ends, width := countAll(c, split, in)
	indices, err := c.Alloc(0, tf.Int64, tf.Shape{ends[len(in)], 2})
	if err != nil {
		return err
	}
	values, err := c.Alloc(1, tf.String, tf.Shape{ends[len(in)]})
	if err != nil {
		return err
	}
	at, v := core.Data[int64](indices), core.Data[string](values)
	c.ParallelFor(len(in), grain/4, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			split.put(v[ends[i]:ends[i+1]], at[2*ends[i]:2*ends[i+1]], in[i], i)
		}
	})
	return allocInts(c, 2, tf.Int64, []int{len(in), width})
}

// countAll returns where the parts of each string end, counted from those of the first one,
// and how many a string has at most.
func countAll(c *core.OpContext, split splitter, in []string) (ends []int, width int) {
	ends = core.Make[int](len(in) + 1)
	c.ParallelFor(len(in), grain/4, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			ends[i+1] = split.count(in[i])
		}
	})
	for i := range in {
		width = max(width, ends[i+1])
		ends[i+1] += ends[i]
	}
	return ends, width
}

func (cut cutter) count(s string) int {
	for n, at := 0, 0; ; n++ {
		begin, _, next := cut(s, at, n)
		if begin < 0 {
			return n
		}
		at = next
	}
}

func (cut cutter) put(parts []string, indices []int64, s string, i int) {
	at := 0
	for k := range parts {
		begin, end, next := cut(s, at, k)
		parts[k], at = s[begin:end], next
		indices[2*k], indices[2*k+1] = int64(i), int64(k)
	}
}

// cutAtText cuts where by is, most times at most unless that is negative.
func cutAtText(by string, most int) cutter {
	return func(s string, at, k int) (begin, end, next int) {
		if at > len(s) {
			return -1, 0, 0
		}
		if k != most {
			if i := strings.Index(s[at:], by); i >= 0 {
				return at, at + i, at + i + len(by)
			}
		}
		return at, len(s), len(s) + 1
	}
}

// space is the white space of ASCII.
const space = " \t\n\v\f\r"

var isSpace = bytesIn(space)

// bytesIn returns which bytes text has.
func bytesIn(text string) *[256]bool {
	var in [256]bool
	for i := range len(text) {
		in[text[i]] = true
	}
	return &in
}

// cutAtSpace cuts at runs of white space, most times at most unless that is negative. What is
// left then is a part even if it is empty.
func cutAtSpace(most int) cutter {
	return func(s string, at, k int) (begin, end, next int) {
		for at < len(s) && isSpace[s[at]] {
			at++
		}
		if k == most && at <= len(s) {
			return at, len(s), len(s) + 1
		}
		if at >= len(s) {
			return -1, 0, 0
		}
		for end = at; end < len(s) && !isSpace[s[end]]; {
			end++
		}
		return at, end, end
	}
}
