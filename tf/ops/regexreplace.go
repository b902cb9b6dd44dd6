package ops

import (
	"slices"
	"strings"

	"github.com/gorge-tf/gorge/internal/re2"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

func init() {
	core.Register(core.OpDef{
		Name: "RegexReplace", In: "input: string; pattern: string; rewrite: string", Out: "output: string", Attrs: "replace_global: bool = true",
		Shape: regexReplaceShape, NoGrad: core.NotDifferentiable, Kernels: core.AnyType(regexReplace),
	})
	core.Register(core.OpDef{
		Name: "StaticRegexReplace", In: "input: string", Out: "output: string", Attrs: "pattern: string; rewrite: string; replace_global: bool = true",
		Shape: core.UnchangedShape, NoGrad: core.NoGradientDefined, Kernels: core.AnyType(staticRegexReplace),
	})
}

// RegexReplaceOpts is the optional attribute of RegexReplace and
// StaticRegexReplace: First replaces the first match in a string only.
type RegexReplaceOpts struct{ First bool }

// Apply sets the attributes.
func (o RegexReplaceOpts) Apply(s *tf.Spec) { s.Set("replace_global", !o.First) }

// RegexReplace replaces what pattern, a scalar in RE2's syntax, matches in
// the strings of x by rewrite, a scalar in which \0 is the match and \1 to \9
// are its groups. A rewrite with groups that the pattern lacks changes
// nothing. A double backslash stands for a backslash; another escape ends the
// rewrite, or changes nothing with First. The result has the shape of x. A
// pattern or rewrite that is no scalar is refused with INVALID_ARGUMENT, when
// the graph is built if its shape is known, else in the step; a pattern that
// has errors is refused in the step with INVALID_ARGUMENT.
// Its options are [RegexReplaceOpts].
func RegexReplace(x, pattern, rewrite tf.Output, opts ...tf.Option) tf.Output {
	return apply("RegexReplace", opts, x, pattern, rewrite)
}

// StaticRegexReplace is RegexReplace with a pattern and a rewrite that are
// known now. The result has the shape of x. A pattern that has errors is
// refused in the step with INVALID_ARGUMENT.
// Its options are [RegexReplaceOpts].
func StaticRegexReplace(x tf.Output, pattern, rewrite string, opts ...tf.Option) tf.Output {
	return apply("StaticRegexReplace", tf.Join(opts, tf.Attr("pattern", pattern), tf.Attr("rewrite", rewrite)), x)
}

func regexReplaceShape(c *core.Infer) error {
	for i := 1; i <= 2; i++ {
		if _, err := c.Rank(i, 0); err != nil {
			return err
		}
	}
	c.Set(0, c.In(0))
	return nil
}

func regexReplace(n *core.Node) (core.Kernel, error) {
	global := n.Bool("replace_global")
	return core.Compute(func(c *core.OpContext) error {
		var text [2]string
		for i, name := range []string{"Pattern", "Rewrite"} {
			t := c.Input(1 + i)
			if t.Rank() != 0 {
				return tf.Errorf(tf.InvalidArgument, "%s must be scalar, but received %s", name, t.Shape().String())
			}
			text[i] = core.Data[string](t)[0]
		}
		r, err := newReplacer(text[0], text[1], global)
		if err != nil {
			return err
		}
		return r.all(c)
	}), nil
}

func staticRegexReplace(n *core.Node) (core.Kernel, error) {
	r, err := newReplacer(n.Str("pattern"), n.Str("rewrite"), n.Bool("replace_global"))
	return core.Compute(func(c *core.OpContext) error {
		if err != nil {
			return err
		}
		return r.all(c)
	}), nil
}

// A replacer replaces matches of an expression.
type replacer struct {
	re    *re2.Pattern
	parts []rewritePart
	most  int // how many matches are replaced, -1: all

	groups bool // whether parts are groups
	size   int  // how many numbers tell of a match
}

// A rewritePart is a piece of the text that replaces a match: as it stands if
// group is negative.
type rewritePart struct {
	text  string
	group int
}

func newReplacer(expr, rewrite string, global bool) (*replacer, error) {
	re, err := re2.Compile(expr)
	if err != nil {
		return nil, badPattern(expr, err)
	}
	r := &replacer{re: re, most: -1, size: 2}
	if !global {
		r.most = 1
	}
	parts, broken := parseRewrite(rewrite)
	if r.parts = parts; greatestGroup(rewrite) > re.Groups() || broken && !global {
		r.most = 0
	}
	if slices.ContainsFunc(parts, func(p rewritePart) bool { return p.group > 0 }) {
		r.groups, r.size = true, 2*(1+re.Groups())
	}
	return r, nil
}

// parseRewrite returns the parts of a rewrite up to an escape that means
// nothing.
func parseRewrite(s string) (parts []rewritePart, broken bool) {
	for {
		before, after, found := strings.Cut(s, `\`)
		parts = append(parts, rewritePart{before, -1})
		if !found {
			return parts, false
		}
		switch {
		case after != "" && isDigit(after[0]):
			parts = append(parts, rewritePart{"", int(after[0] - '0')})
		case strings.HasPrefix(after, `\`):
			parts = append(parts, rewritePart{`\`, -1})
		default:
			return parts, true
		}
		s = after[1:]
	}
}

// greatestGroup returns the number of the greatest group in all of a rewrite,
// also behind an escape that ends it.
func greatestGroup(rewrite string) (n int) {
	for i := 0; i+1 < len(rewrite); i++ {
		if rewrite[i] != '\\' {
			continue
		}
		if i++; isDigit(rewrite[i]) {
			n = max(n, int(rewrite[i]-'0'))
		}
	}
	return n
}

func isDigit(b byte) bool { return '0' <= b && b <= '9' }

// all replaces in every string of input 0.
func (r *replacer) all(c *core.OpContext) error {
	x := c.Input(0)
	out, err := c.Alloc(0, tf.String, x.Shape())
	if err != nil {
		return err
	}
	in, y := core.Data[string](x), core.Data[string](out)
	const grain = 1 << 7
	c.ParallelFor(len(y), grain, func(lo, hi int) {
		var found []int
		for i := lo; i < hi; i++ {
			y[i], found = r.replace(in[i], found[:0])
		}
	})
	return nil
}

// replace returns s with its matches replaced, and memory for the next ones.
func (r *replacer) replace(s string, found []int) (string, []int) {
	if r.most == 0 {
		return s, found
	}
	r.makeRoom(s)
	found = r.re.Matches(found, s, r.most, r.groups)
	if len(found) == 0 {
		return s, found
	}
	var b strings.Builder
	n := r.length(s, found)
	core.Room(n)
	b.Grow(n)
	end := 0
	for at := 0; at < len(found); at += r.size {
		m := found[at : at+r.size]
		b.WriteString(s[end:m[0]])
		r.rewrite(&b, s, m)
		end = m[1]
	}
	b.WriteString(s[end:])
	return b.String(), found
}

// makeRoom makes sure that there is memory for where all matches are in a long s.
func (r *replacer) makeRoom(s string) {
	if len(s) < 1<<20 || r.most > 0 {
		return
	}
	n := 0
	r.re.For(s).ReplaceAllStringFunc(s, func(string) string { n++; return "" })
	core.Room(n * (24 + 16*(1+r.re.Groups()))) // a slice of as many numbers each
}

// length returns how long s is after the replacement.
func (r *replacer) length(s string, found []int) int {
	n := len(s)
	for at := 0; at < len(found); at += r.size {
		m := found[at : at+r.size]
		n -= m[1] - m[0]
		for _, p := range r.parts {
			if n += len(p.text); p.group >= 0 && m[2*p.group] >= 0 {
				n += m[2*p.group+1] - m[2*p.group]
			}
		}
	}
	return n
}

// rewrite writes what replaces the match at m.
func (r *replacer) rewrite(b *strings.Builder, s string, m []int) {
	for _, p := range r.parts {
		b.WriteString(p.text)
		if p.group >= 0 && m[2*p.group] >= 0 {
			b.WriteString(s[m[2*p.group]:m[2*p.group+1]])
		}
	}
}
