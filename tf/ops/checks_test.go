package ops_test

import (
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/eager"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/optest"
)

func init() {
	optest.Unsampled("Timestamp", "its result is never the same")
	optest.Unsampled("Assert", "it has no outputs")
	optest.Unsampled("PrintV2", "it has no outputs")
	addCheckSamples()
	addTextFormSamples()
	addTextSamples()
}

func addCheckSamples() {
	check := func(f func(tf.Output, string, ...tf.Option) tf.Output) func(*tf.Graph, []tf.Output) []tf.Output {
		return func(_ *tf.Graph, in []tf.Output) []tf.Output { return []tf.Output{f(in[0], "here")} }
	}
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	for name, f := range map[string]func(*tf.Graph, []tf.Output) []tf.Output{"CheckNumerics": check(ops.CheckNumerics), "CheckNumericsV2": check(ops.CheckNumericsV2)} {
		addSamples(
			sample{Op: name, In: []*core.Tensor{seq(2, 3)}, F: f},
			failing(name, "nan", f, vec(1, nan)),
			failing(name, "inf", f, vec(inf, -1)),
			failing(name, "negative", f, vec(1, -inf)),
			failing(name, "two", f, vec(inf, -inf)),
			failing(name, "all", f, vec(inf, -inf, nan)),
			failing(name, "double", f, vec(1, math.Inf(-1), math.NaN())),
			failing(name, "half", f, optest.Convert(vec(1, inf), tf.Float16)),
			failing(name, "bfloat16", f, optest.Convert(vec(1, nan), tf.BFloat16)),
		)
	}
	print := func(_ *tf.Graph, in []tf.Output) []tf.Output {
		return []tf.Output{ops.Print(in[0], in[1:], ops.PrintOpts{Message: "x: ", FirstN: 2})}
	}
	addSamples(sample{Op: "Print", In: []*core.Tensor{seq(3), i32(1, 2, 3, 4)}, F: print})
}

func addTextFormSamples() {
	as := func(o ops.AsStringOpts) func(*tf.Graph, []tf.Output) []tf.Output { return unary(ops.AsString, o) }
	numbers := vec[float32](1.5, -2.25, 1e20, 1e-10, 123456.789, float32(math.NaN()), float32(math.Inf(-1)))
	wide := func(fill string) ops.AsStringOpts { return ops.AsStringOpts{Width: 9, Fill: fill} }
	addSamples(
		sample{Op: "AsString", In: []*core.Tensor{seq(2, 3)}, F: as(ops.AsStringOpts{}), Types: []tf.DType{
			tf.Float64, tf.Float16, tf.BFloat16, tf.Int8, tf.Int16, tf.Int32, tf.Int64, tf.Uint8, tf.Uint16, tf.Uint32, tf.Uint64, tf.Bool, tf.Complex64, tf.Complex128,
		}},
		sample{Op: "AsString", Name: "precision", In: []*core.Tensor{numbers}, F: as(ops.AsStringOpts{Precision: 2})},
		sample{Op: "AsString", Name: "no fraction", In: []*core.Tensor{numbers}, F: as(ops.AsStringOpts{HasPrecision: true})},
		sample{Op: "AsString", Name: "exponent", In: []*core.Tensor{numbers}, F: as(ops.AsStringOpts{Scientific: true})},
		sample{Op: "AsString", Name: "short", In: []*core.Tensor{numbers}, F: as(ops.AsStringOpts{Shortest: true})},
		sample{Op: "AsString", Name: "wide string", In: []*core.Tensor{vec("ab", "é", "")}, F: as(wide(""))},
		failing("AsString", "fill", as(wide("x")), numbers),
		failing("AsString", "fills", as(wide("xx")), numbers),
		failing("AsString", "notation", as(ops.AsStringOpts{Shortest: true, Scientific: true}), numbers),
		failing("AsString", "precision", as(ops.AsStringOpts{Precision: 1}), i32(1)),
		failing("AsString", "short integer", as(ops.AsStringOpts{Shortest: true}), i32(1)),
	)
	for _, fill := range []string{"0", "-", "+", " "} {
		addSamples(sample{Op: "AsString", Name: "fill" + fill, In: []*core.Tensor{numbers}, F: as(wide(fill)), Types: []tf.DType{tf.Int32, tf.Uint16, tf.Complex64}})
	}
	format := func(template string, o ...tf.Option) func(*tf.Graph, []tf.Output) []tf.Output {
		return func(g *tf.Graph, in []tf.Output) []tf.Output {
			return []tf.Output{ops.StringFormat(g, template, in, o...)}
		}
	}
	add := func(name string, t *core.Tensor, o ...tf.Option) {
		addSamples(sample{Op: "StringFormat", Name: name, In: []*core.Tensor{t}, F: format("<%s>", o...), Types: onlyOwn})
	}
	addSamples(sample{Op: "StringFormat", In: []*core.Tensor{i32(1, 2), seq(2, 2)}, F: format("a %s b %s"), Types: onlyOwn})
	add("vector", seq(9))
	add("matrix", seq(7, 8))
	add("cube", seq(2, 3, 2))
	add("all", seq(3, 8), ops.StringFormatOpts{Summarize: -1})
	add("one", seq(3, 8), ops.StringFormatOpts{Summarize: 1})
	add("scalar", scalar(1.0/3))
	add("text", vec("a\n\"'\\", "é\x01", "\x7f"))
	add("flags", vec(true, false))
	add("complex", vec(complex64(1), 2))
	add("empty", seq(2, 0))
	add("big", vec[int64](math.MaxInt64, math.MinInt64))
	add("half", optest.Convert(seq(3), tf.Float16))
	for _, d := range []tf.DType{tf.Float8E5M2, tf.Float8E4M3, tf.Int4, tf.Uint4} {
		add(d.String(), everyByte(d), ops.StringFormatOpts{Summarize: -1})
	}
}

func addTextSamples() {
	join := func(o ...tf.Option) func(*tf.Graph, []tf.Output) []tf.Output {
		return func(g *tf.Graph, in []tf.Output) []tf.Output { return []tf.Output{ops.StringJoin(g, in, o...)} }
	}
	match := binary(ops.RegexFullMatch)
	static := func(p string) func(*tf.Graph, []tf.Output) []tf.Output {
		return func(_ *tf.Graph, in []tf.Output) []tf.Output {
			return []tf.Output{ops.StaticRegexFullMatch(in[0], p)}
		}
	}
	words := vec("abc", "ab", "xabc", "abcx", "", "a\nc")
	addSamples(
		sample{Op: "StringJoin", In: []*core.Tensor{vec("a", "b"), vec("c", "d")}, F: join()},
		sample{Op: "StringJoin", Name: "separator", In: []*core.Tensor{vec("a", "b"), scalar("-"), vec("c", "d")}, F: join(ops.StringJoinOpts{Separator: ", "})},
		sample{Op: "StringJoin", Name: "scalars", In: []*core.Tensor{scalar("a"), scalar("b")}, F: join()},
		sample{Op: "StringJoin", Name: "none", F: join()},
		failing("StringJoin", "shapes", join(), vec("a", "b"), vec("c", "d", "e")),
		sample{Op: "RegexFullMatch", In: []*core.Tensor{words, scalar("a.*c")}, F: match},
		sample{Op: "RegexFullMatch", Name: "either", In: []*core.Tensor{words, scalar("ab|abc|(?s)a.c")}, F: match},
		failing("RegexFullMatch", "pattern", match, words, scalar("(a")),
		failing("RegexFullMatch", "bracket", match, words, scalar("[a")),
		failing("RegexFullMatch", "repetition", match, words, scalar("*a")),
		failing("RegexFullMatch", "patterns", match, words, vec("a", "b")),
		sample{Op: "StaticRegexFullMatch", In: []*core.Tensor{words}, F: static("a.*")},
		sample{Op: "ShardedFilename", In: []*core.Tensor{scalar("dir/base"), scalar(int32(3)), scalar(int32(12))}, F: ternary(ops.ShardedFilename)},
		sample{Op: "ShardedFilename", Name: "many", In: []*core.Tensor{scalar(""), scalar(int32(123456)), scalar(int32(-12))}, F: ternary(ops.ShardedFilename)},
		failing("ShardedFilename", "shard", ternary(ops.ShardedFilename), scalar("a"), i32(1), scalar(int32(12))),
		sample{Op: "ShardedFilespec", In: []*core.Tensor{scalar("base"), scalar(int32(12))}, F: binary(ops.ShardedFilespec)},
		failing("ShardedFilespec", "base", binary(ops.ShardedFilespec), vec("a"), scalar(int32(12))),
	)
}

func TestAssert(t *testing.T) {
	for _, c := range []struct {
		data tf.DType
		most int
		want string
	}{
		{tf.Float32, 0, "assertion failed: [[-2.97 -0.6575][1.655...]...] [x\\ny]"},
		{tf.Int32, -1, "assertion failed: [[-2 0][1 -2][0 2]] [x\\ny]"},
		{tf.Int64, 1, "assertion failed: [[-2...]...] [x\\ny]"},
		{tf.Complex64, 2, "assertion failed: [? ?...] [x\\ny]"},
	} {
		g := eager.New()
		data := []tf.Output{ops.ConstValue(g, optest.Convert(seq(3, 2), c.data)), ops.ConstValue(g, scalar("x\ny"))}
		op := ops.Assert(ops.ConstValue(g, scalar(false)), data, ops.AssertOpts{Summarize: c.most})
		if tf.CodeOf(op.Err()) != tf.InvalidArgument || tf.AsError(op.Err()).Message() != c.want {
			t.Errorf("%v: %v, want %s", c.data, op.Err(), c.want)
		}
		if op := ops.Assert(ops.ConstValue(g, scalar(true)), data); op.Err() != nil {
			t.Errorf("%v: %v", c.data, op.Err())
		}
	}
}

func TestPrint(t *testing.T) {
	var got []string
	ops.SetPrinter(func(stream, text string) { got = append(got, stream+": "+text) })
	defer ops.SetPrinter(nil)
	g := eager.New()
	x := ops.Const(g, []int32{1, 2, 3, 4})
	for _, err := range []error{
		ops.Print(x, []tf.Output{x, ops.ConstValue(g, scalar("a"))}, ops.PrintOpts{Message: "m: "}).Err(),
		ops.PrintV2(ops.ConstValue(g, scalar("hello"))).Err(),
		ops.PrintV2(ops.ConstValue(g, scalar("hello")), ops.PrintV2Opts{OutputStream: "log(info)", NoNewline: true}).Err(),
	} {
		if err != nil {
			t.Error(err)
		}
	}
	want := []string{"stderr: m: [1 2 3...][a]\n", "stderr: hello\n", "log(info): hello"}
	if len(got) != len(want) || got[0] != want[0] || got[1] != want[1] || got[2] != want[2] {
		t.Errorf("printed %q, want %q", got, want)
	}
	if err := ops.PrintV2(ops.ConstValue(g, scalar("hello")), ops.PrintV2Opts{OutputStream: "printer"}).Err(); tf.CodeOf(err) != tf.InvalidArgument {
		t.Errorf("unknown stream: %v", err)
	}
}

func TestPrintToFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	g := eager.New()
	for _, text := range []string{"a", "b"} {
		if err := ops.PrintV2(ops.ConstValue(g, scalar(text)), ops.PrintV2Opts{OutputStream: "file://" + path}).Err(); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := os.ReadFile(path); err != nil || string(got) != "a\nb\n" {
		t.Errorf("file has %q (%v)", got, err)
	}
}
