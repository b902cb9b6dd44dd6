package ops

import (
	"github.com/gorge-tf/gorge/internal/re2"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

func init() {
	core.Register(core.OpDef{
		Name: "RegexFullMatch", In: "input: string; pattern: string", Out: "output: bool",
		Shape: regexShape, NoGrad: core.NoGradientDefined, Kernels: core.AnyType(regexFullMatch),
	})
	core.Register(core.OpDef{
		Name: "StaticRegexFullMatch", In: "input: string", Out: "output: bool", Attrs: "pattern: string",
		Shape: core.UnchangedShape, NoGrad: core.NoGradientDefined, Kernels: core.AnyType(staticRegexFullMatch),
	})
}

// RegexFullMatch reports which strings of x the pattern, a scalar in RE2's
// syntax, matches as a whole. The result is bool and has the shape of x. A
// pattern that is no scalar is refused with INVALID_ARGUMENT, when the graph
// is built if its shape is known, else in the step; one that has errors is
// refused in the step with INVALID_ARGUMENT. The syntax is that of Go's
// package regexp.
func RegexFullMatch(x, pattern tf.Output, opts ...tf.Option) tf.Output {
	return apply("RegexFullMatch", opts, x, pattern)
}

// StaticRegexFullMatch is RegexFullMatch with a pattern that is known now.
// One that has errors is refused in the step with INVALID_ARGUMENT.
func StaticRegexFullMatch(x tf.Output, pattern string, opts ...tf.Option) tf.Output {
	return apply("StaticRegexFullMatch", tf.Join(opts, tf.Attr("pattern", pattern)), x)
}

func regexShape(c *core.Infer) error {
	_, err := c.Rank(1, 0)
	c.Set(0, c.In(0))
	return err
}

func regexFullMatch(*core.Node) (core.Kernel, error) {
	return core.Compute(func(c *core.OpContext) error {
		p := c.Input(1)
		if p.Rank() != 0 {
			return tf.Errorf(tf.InvalidArgument, "Pattern must be scalar, but received %s", p.Shape().String())
		}
		re, err := wholeRegex(core.Data[string](p)[0])
		if err != nil {
			return err
		}
		return matchAll(c, re)
	}), nil
}

func staticRegexFullMatch(n *core.Node) (core.Kernel, error) {
	re, err := wholeRegex(n.Str("pattern"))
	return core.Compute(func(c *core.OpContext) error {
		if err != nil {
			return err
		}
		return matchAll(c, re)
	}), nil
}

func matchAll(c *core.OpContext, re *re2.Pattern) error {
	x := c.Input(0)
	out, err := c.Alloc(0, tf.Bool, x.Shape())
	if err != nil {
		return err
	}
	in, y := core.Data[string](x), core.Data[bool](out)
	const grain = 1 << 8
	c.ParallelFor(len(y), grain, func(lo, hi int) { re.MatchAll(y[lo:hi], in[lo:hi]) })
	return nil
}

// wholeRegex compiles a pattern that has to match all of a text.
func wholeRegex(expr string) (*re2.Pattern, error) {
	re, err := re2.CompileWhole(expr)
	if err != nil {
		return nil, badPattern(expr, err)
	}
	return re, nil
}

func badPattern(pattern string, err error) error {
	return tf.Errorf(tf.InvalidArgument, "Invalid pattern: %s, error: %s", pattern, re2.Describe(err))
}
