package text_test

import (
	"fmt"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/ops/text"
	"github.com/gorge-tf/gorge/tf/optest"
)

func parts(f func(x, sep tf.Output) text.Parts) function {
	return func(_ *tf.Graph, in []tf.Output) []tf.Output {
		p := f(in[0], in[1])
		return []tf.Output{p.Indices, p.Values, p.Shape}
	}
}

func init() {
	words := vec("a,b;c,,d", " a \t b\n", "", ",", "no", ";,a,;", "  ")
	splitBy := func(opts ...tf.Option) function {
		return parts(func(x, sep tf.Output) text.Parts { return text.StringSplit(x, sep, opts...) })
	}
	atMost := func(n int) function {
		return parts(func(x, sep tf.Output) text.Parts { return text.StringSplitV2(x, sep, text.SplitV2Opts{MaxSplit: n}) })
	}
	never := parts(func(x, sep tf.Output) text.Parts { return text.StringSplitV2(x, sep, tf.Attr("maxsplit", 0)) })
	for _, by := range []string{"", " ", ",", ",;", "ab"} {
		sep := core.Scalar(by)
		optest.Add(
			sample("StringSplit", by, splitBy(), words, sep),
			sample("StringSplit", by+" keep", splitBy(text.SplitOpts{KeepEmpty: true}), words, sep),
			sample("StringSplitV2", "never"+by, never, words, sep),
		)
		for _, n := range []int{0, 1, 2, 5} {
			optest.Add(sample("StringSplitV2", fmt.Sprint(by, n), atMost(n), words, sep))
		}
	}
	for op, f := range map[string]function{"StringSplit": splitBy(), "StringSplitV2": atMost(0)} {
		optest.Add(
			sample(op, "no words", f, vec[string](), core.Scalar(",")),
			optest.Failing(op, "scalar", f, core.Scalar("a"), core.Scalar(",")),
			optest.Failing(op, "separators", f, vec("a"), vec(",")),
		)
	}
}

func init() {
	join := func(o text.ReduceJoinOpts) function {
		return one(func(in []tf.Output) tf.Output { return text.ReduceJoin(in[0], in[1], o) })
	}
	plain := join(text.ReduceJoinOpts{})
	words := optest.Arr(tf.Shape{2, 3, 2}, "a", "b", "c", "", "e", "f", "g", "h", "i", "j", "k", "long")
	for name, axes := range map[string][]int32{"": {0}, "middle": {1}, "last": {-1}, "two": {0, 2}, "turned": {2, 0}, "all": {2, 1, 0}, "none": {}} {
		optest.Add(
			sample("ReduceJoin", name, plain, words, vec(axes...)),
			sample("ReduceJoin", name+" kept", join(text.ReduceJoinOpts{KeepDims: true, Separator: ", "}), words, vec(axes...)),
		)
	}
	empty := optest.Arr[string](tf.Shape{0, 2})
	optest.Add(
		sample("ReduceJoin", "scalar axis", plain, words, core.Scalar[int32](1)),
		sample("ReduceJoin", "nothing joined", plain, empty, vec[int32](0)),
		sample("ReduceJoin", "nothing", plain, empty, vec[int32](1)),
		optest.Failing("ReduceJoin", "axis", plain, words, vec[int32](3)),
		optest.Failing("ReduceJoin", "negative axis", plain, words, vec[int32](-4)),
		optest.Failing("ReduceJoin", "twice", plain, words, vec[int32](1, -2)),
		optest.Failing("ReduceJoin", "no axes", plain, core.Scalar("a"), vec[int32](0)),
	)
}
