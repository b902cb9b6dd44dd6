package text

import (
	"strings"
	"unsafe"

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
		return splitAll(c, "delimiter", func(_ []string, s, by string) []string { return splitAny(s, by, keep) })
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
		return splitAll(c, "sep", func(parts []string, s, by string) []string {
			switch {
			case most == 0:
				return []string{s}
			case by == "":
				return splitSpace(parts, s, most)
			case most < 0:
				return strings.Split(s, by)
			}
			return strings.SplitN(s, by, most+1)
		})
	}), nil
}

// splitAll splits the strings of input 0 by input 1, which is called name in
// messages. split may put the parts into what it is given.
func splitAll(c *core.OpContext, name string, split func(parts []string, s, by string) []string) error {
	x, by := c.Input(0), c.Input(1)
	if x.Rank() != 1 {
		return invalid("input must be a vector, got shape: %s", x.Shape().String())
	}
	if by.Rank() != 0 {
		return invalid("%s must be a scalar, got shape: %s", name, by.Shape().String())
	}
	in, sep := core.Data[string](x), core.Data[string](by)[0]
	rows := core.Make[[]string](len(in))
	c.ParallelFor(len(in), grain/4, func(lo, hi int) {
		var block []string // of many rows
		for i := lo; i < hi; i++ {
			core.Room(16 * mostParts(in[i], sep))
			if sep == "" && cap(block)-len(block) < fewParts {
				block = make([]string, 0, 16*fewParts)
			}
			rows[i] = split(block[len(block):], in[i], sep)
			if n := len(rows[i]); n > 0 && unsafe.SliceData(rows[i]) == unsafe.SliceData(block[len(block):]) {
				block = block[:len(block)+n]
			}
		}
	})
	return sparseRows(c, rows)
}

// fewParts is as many as most strings have at most.
const fewParts = 32

// mostParts returns how many parts s may have at most, cut at spaces, at each of
// the bytes of by, or wherever by is.
func mostParts(s, by string) int {
	if len(s) < 1<<12 {
		return 0 // which does not matter
	}
	if by == "" {
		return len(s)
	}
	n := 1
	for i := range len(s) {
		if strings.IndexByte(by, s[i]) >= 0 {
			n++
		}
	}
	return n
}

// sparseRows makes the outputs: rows as a sparse matrix.
func sparseRows(c *core.OpContext, rows [][]string) error {
	count, width := 0, 0
	for _, r := range rows {
		count, width = count+len(r), max(width, len(r))
	}
	indices, err := c.Alloc(0, tf.Int64, tf.Shape{count, 2})
	if err != nil {
		return err
	}
	values, err := c.Alloc(1, tf.String, tf.Shape{count})
	if err != nil {
		return err
	}
	at, v := core.Data[int64](indices), core.Data[string](values)
	for i, r := range rows {
		for k := range r {
			at[2*k], at[2*k+1] = int64(i), int64(k)
		}
		at, v = at[2*len(r):], v[copy(v, r):]
	}
	return allocInts(c, 2, tf.Int64, []int{len(rows), width})
}

// splitAny splits s at each of the bytes of by; an empty s has no parts.
func splitAny(s, by string, keep bool) (parts []string) {
	if by == "" {
		for i := range len(s) {
			parts = append(parts, s[i:i+1])
		}
		return parts
	}
	if s == "" {
		return nil
	}
	begin := 0
	for i := 0; i <= len(s); i++ {
		if i < len(s) && strings.IndexByte(by, s[i]) < 0 {
			continue
		}
		if keep || i > begin {
			parts = append(parts, s[begin:i])
		}
		begin = i + 1
	}
	return parts
}

// space is the white space of ASCII.
const space = " \t\n\v\f\r"

// isSpace is what is white space of ASCII.
var isSpace = func() (is [256]bool) {
	for i := range len(space) {
		is[space[i]] = true
	}
	return is
}()

// splitSpace appends to parts what is between runs of white space in s, split most times
// at most.
func splitSpace(parts []string, s string, most int) []string {
	i := 0
	for {
		for i < len(s) && isSpace[s[i]] {
			i++
		}
		if i == len(s) || len(parts) == most {
			break
		}
		begin := i
		for i < len(s) && !isSpace[s[i]] {
			i++
		}
		parts = append(parts, s[begin:i])
	}
	if len(parts) == most { // what is left is a part even if it is empty
		parts = append(parts, s[i:])
	}
	return parts
}
