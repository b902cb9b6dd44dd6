package parsing_test

import (
	"embed"
	"testing"

	"github.com/gorge-tf/gorge/internal/leaktest"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/ops/parsing"
	"github.com/gorge-tf/gorge/tf/optest"
)

//go:embed testdata/golden
var golden embed.FS

func TestOps(t *testing.T) { optest.Run(t, golden) }

func TestMain(m *testing.M) { leaktest.Main(m) }

type function = func(g *tf.Graph, in []tf.Output) []tf.Output

func one(f func(x tf.Output) tf.Output) function {
	return func(_ *tf.Graph, in []tf.Output) []tf.Output { return []tf.Output{f(in[0])} }
}

func add(op, name string, f function, in ...*core.Tensor) {
	optest.Add(optest.Sample{Op: op, Name: name, In: in, F: f, Types: optest.OnlyOwn})
}

func fails(op, name string, f function, in ...*core.Tensor) {
	optest.Add(optest.Failing(op, name, f, in...))
}

func init() {
	raw := func(d tf.DType, big bool) function {
		return one(func(x tf.Output) tf.Output { return parsing.DecodeRaw(x, d, parsing.RawOpts{BigEndian: big}) })
	}
	padded := func(d tf.DType, big bool) function {
		return func(_ *tf.Graph, in []tf.Output) []tf.Output {
			return []tf.Output{parsing.DecodePaddedRaw(in[0], in[1], d, parsing.RawOpts{BigEndian: big})}
		}
	}
	bytes := optest.Mat(2, "abcdefghijklmnop", "0123456789abcdef", "\x00\x01\x02\x03\x04\x05\x06\x07\x08\x09\x0a\x0b\x0c\x0d\x0e\x0f", "ABCDEFGHIJKLMNOP")
	for _, d := range []tf.DType{tf.Uint8, tf.Float16, tf.Int16, tf.Int32, tf.Int64, tf.Complex64, tf.Complex128} {
		add("DecodeRaw", d.String(), raw(d, false), bytes)
		add("DecodeRaw", d.String()+" turned", raw(d, true), bytes)
	}
	add("DecodeRaw", "empty strings", raw(tf.Int32, false), optest.Vec("", ""))
	add("DecodeRaw", "nothing", raw(tf.Int32, false), optest.Vec[string]())
	add("DecodeRaw", "bool", raw(tf.Bool, false), core.Scalar("\x00\x01"))
	fails("DecodeRaw", "lengths", raw(tf.Int8, false), optest.Vec("ab", "abc"))
	fails("DecodeRaw", "multiple", raw(tf.Int32, false), optest.Vec("abcde"))
	four := core.Scalar(int32(4))
	add("DecodePaddedRaw", "", padded(tf.Uint8, false), optest.Vec("ab", "abcdef", ""), four)
	add("DecodePaddedRaw", "shorts", padded(tf.Int16, false), optest.Vec("abc", "abcdef", ""), four)
	add("DecodePaddedRaw", "turned", padded(tf.Int16, true), optest.Vec("abcd", "efgh"), four)
	fails("DecodePaddedRaw", "multiple", padded(tf.Int64, false), optest.Vec("ab"), four)
	fails("DecodePaddedRaw", "zero", padded(tf.Int8, false), optest.Vec("ab"), core.Scalar(int32(0)))
	fails("DecodePaddedRaw", "scalar", padded(tf.Int8, false), optest.Vec("ab"), optest.Vec[int32](1))
}

func init() {
	number := func(d tf.DType) function {
		return one(func(x tf.Output) tf.Output { return parsing.StringToNumber(x, parsing.NumberType(d)) })
	}
	floats := optest.Vec("0", "-1.5", " 2e3 ", "1e-3", "inf", "-INF", "nan", "3.4028235e38", "1e40", "0.1", "+7", "1e-46", ".5", "5.", "infinity", "0xF", "-0X1a")
	add("StringToNumber", "", number(tf.Float32), floats)
	add("StringToNumber", "double", number(tf.Float64), floats)
	add("StringToNumber", "int32", number(tf.Int32), optest.Mat(2, "0", "-1", " 2147483647", "-2147483648\n"))
	add("StringToNumber", "int64", number(tf.Int64), optest.Vec("9223372036854775807", "-9223372036854775808", "+3"))
	add("StringToNumber", "uint32", number(tf.Uint32), optest.Vec("0", "4294967295"))
	add("StringToNumber", "uint64", number(tf.Uint64), optest.Vec("0", " 18446744073709551615 "))
	for name, bad := range map[string]struct {
		d tf.DType
		s string
	}{
		"word": {tf.Float32, "abc"}, "empty": {tf.Float64, ""}, "large": {tf.Int32, "2147483648"}, "fraction": {tf.Int64, "1.5"}, "underscore": {tf.Float32, "1_0"},
		"negative": {tf.Uint32, "-1"}, "hex": {tf.Int32, "0x10"}, "two": {tf.Float32, "1 2"},
	} {
		fails("StringToNumber", name, number(bad.d), optest.Vec(bad.s))
	}
}

func init() {
	csv := func(o parsing.CSVOpts) function {
		return func(_ *tf.Graph, in []tf.Output) []tf.Output { return parsing.DecodeCSV(in[0], in[1:], o) }
	}
	plain := csv(parsing.CSVOpts{})
	none := optest.Vec[float32]()
	word := optest.Vec("default")
	add("DecodeCSV", "", plain, optest.Vec("1,2,3.5,-4e10,text", "7,,,,", "\r\n8,9,1,1,last"), core.Scalar(int32(0)), optest.Vec[int64](-5), optest.Vec[float32](0.5), optest.Vec(0.25), word)
	add("DecodeCSV", "quotes", plain, optest.Mat(2, `"a,b","c""d"`, `x,"y"`, `"",z`, "\"two\nlines\",w"), word, word)
	add("DecodeCSV", "no quotes", csv(parsing.CSVOpts{NoQuotes: true}), optest.Vec(`"a,b"`), word, word)
	add("DecodeCSV", "tabs", csv(parsing.CSVOpts{Delim: "\t", NA: "NA"}), optest.Vec("1\tNA", "NA\t"), core.Scalar(int32(3)), word)
	add("DecodeCSV", "columns", csv(parsing.CSVOpts{SelectCols: []int{1, 3}}), optest.Vec("a,b,c,d,e,\"", "1,2,3,"), word, word)
	add("DecodeCSV", "nothing", plain, optest.Vec[string](), word)
	bad := func(name, record string, defaults ...*core.Tensor) {
		fails("DecodeCSV", name, plain, append([]*core.Tensor{optest.Vec(record)}, defaults...)...)
	}
	bad("int", "1.5", core.Scalar(int32(0)))
	bad("long", "x", core.Scalar(int64(0)))
	bad("float", "x", core.Scalar(float32(0)))
	bad("double", "1,2x", word, core.Scalar(0.0))
	bad("missing", ",", word, none)
	bad("few", "1,2", word)
	bad("empty", "", word)
	bad("inner quote", `a"b`, word)
	bad("inner line", "a\nb", word)
	bad("escape", `"a"b"`, word)
	bad("open", `"ab`, word)
	bad("open end", `"`, word)
	bad("defaults", "a", optest.Vec("a", "b"))
	add("DecodeCSV", "many columns", csv(parsing.CSVOpts{SelectCols: []int{0}}), optest.Vec("a,b"), word)
	fails("DecodeCSV", "few columns", csv(parsing.CSVOpts{SelectCols: []int{0, 7}}), optest.Vec("a,b"), word, word)
}

func init() {
	parse := func(d tf.DType) function {
		return one(func(x tf.Output) tf.Output { return parsing.ParseTensor(x, d) })
	}
	add("SerializeTensor", "", optest.Unary(parsing.SerializeTensor), optest.Mat[float32](2, 1, 2, 3, 4))
	add("SerializeTensor", "strings", optest.Unary(parsing.SerializeTensor), optest.Vec("a", ""))
	add("ParseTensor", "", func(_ *tf.Graph, in []tf.Output) []tf.Output {
		return []tf.Output{parsing.ParseTensor(parsing.SerializeTensor(in[0]), tf.Float32)}
	}, optest.Mat[float32](2, 1, 2, 3, 4))
	fails("ParseTensor", "type", func(_ *tf.Graph, in []tf.Output) []tf.Output {
		return []tf.Output{parsing.ParseTensor(parsing.SerializeTensor(in[0]), tf.Int32)}
	}, optest.Mat[float32](2, 1, 2, 3, 4))
	fails("ParseTensor", "bytes", parse(tf.Float32), core.Scalar("\xff"))
	fails("ParseTensor", "rank", parse(tf.Float32), optest.Vec("a"))
}
