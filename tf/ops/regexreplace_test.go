package ops_test

import (
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/ops"
)

func init() {
	one := func(f func(in []tf.Output) tf.Output) func(*tf.Graph, []tf.Output) []tf.Output {
		return func(_ *tf.Graph, in []tf.Output) []tf.Output { return []tf.Output{f(in)} }
	}
	replaced := one(func(in []tf.Output) tf.Output { return ops.RegexReplace(in[0], in[1], in[2]) })
	first := one(func(in []tf.Output) tf.Output {
		return ops.RegexReplace(in[0], in[1], in[2], ops.RegexReplaceOpts{First: true})
	})
	text := mat(2, "a.b.c", "abc", "", "ab\n", "baac é", "aaa")
	for name, r := range map[string][2]string{
		"": {"b", "-"}, "groups": {`(\w)\.(\w)?`, `<\1\2\0\\>`}, "empty": {"b*", "-"}, "nothing": {"", "-"}, "no group": {"b", `x\2`},
		"escape": {"b", `x\y`}, "end of rewrite": {"a", `x\`}, "begin": {"^", "<"}, "end": {"$", ">"}, "lazy": {"a*?", "-"}, "dollar": {"(?i)B", "$0$1"},
		"group behind escape": {"b", `x\y\3`}, "zero": {"a|(b)", `\0\1`},
	} {
		addSamples(
			sample{Op: "RegexReplace", Name: name, In: []*core.Tensor{text, scalar(r[0]), scalar(r[1])}, F: replaced},
			sample{Op: "RegexReplace", Name: "first " + name, In: []*core.Tensor{text, scalar(r[0]), scalar(r[1])}, F: first},
			sample{Op: "StaticRegexReplace", Name: name, In: []*core.Tensor{text}, F: one(func(in []tf.Output) tf.Output {
				return ops.StaticRegexReplace(in[0], r[0], r[1])
			})},
		)
	}
	a := scalar("a")
	addSamples(
		failing("RegexReplace", "pattern", replaced, text, scalar("("), a),
		failing("RegexReplace", "pattern vector", replaced, text, vec("a"), a),
		failing("RegexReplace", "rewrite vector", replaced, text, a, vec("a")),
		failing("StaticRegexReplace", "pattern", one(func(in []tf.Output) tf.Output { return ops.StaticRegexReplace(in[0], "a[", "") }), text),
	)
}
