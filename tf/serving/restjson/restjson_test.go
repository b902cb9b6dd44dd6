package restjson

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"github.com/gorge-tf/gorge/tf"
)

// types has a signature for tests: names of inputs and their types, by the name of
// the signature.
func types(m map[string]tf.DType) func(string) (map[string]tf.DType, error) {
	return func(string) (map[string]tf.DType, error) { return m, nil }
}

var one = types(map[string]tf.DType{"x": tf.Float32})

func TestPredictBodies(t *testing.T) {
	two := types(map[string]tf.DType{"a": tf.Int32, "b": tf.String})
	for _, c := range []struct {
		body  string
		types func(string) (map[string]tf.DType, error)
		want  string // of the tensors, in the order of their names
	}{
		{`{"instances": [1, 2.5, -3e2]}`, one, "float[3]{1 2.5 -300}"},
		{`{"instances": [[1, 2], [3, 4], [5, 6]]}`, one, "float[3,2]{1 2 3 4 5 6}"},
		{`{"inputs": 1}`, one, "float[]{1}"},
		{`{"inputs": {"x": [[1, 2]]}}`, one, "float[1,2]{1 2}"},
		{`{"inputs": [NaN, Inf, -Inf, Infinity, -Infinity]}`, one, "float[5]{NaN +Inf -Inf +Inf -Inf}"},
		{`{"inputs": [-NaN, 1]}`, one, "float[2]{NaN 1}"},
		{`{"inputs": []} and more`, one, "float[0]{}"},
		{"\xef\xbb\xbf{\"inputs\": 1}", one, "float[]{1}"},
		{`{"instances": [[], []]}`, one, "float[2,0]{}"},
		{`{"instances": [{"a": 1, "b": "x"}, {"b": {"b64": "AAE="}, "a": -2}]}`, two, "int32[2]{1 -2} string[2]{x \x00\x01}"},
		{`{"inputs": {"b": "\u00e9\ud83d\ude00\"", "a": [[7]]}}`, two, "int32[1,1]{7} string[]{é😀\"}"},
	} {
		r, err := ParsePredict([]byte(c.body), c.types)
		if err != nil {
			t.Errorf("%s: %v", c.body, err)
			continue
		}
		if got := show(r.Inputs); got != c.want {
			t.Errorf("%s is %s, want %s", c.body, got, c.want)
		}
	}
}

// show prints tensors with their elements.
func show(in map[string]*tf.Tensor) string {
	var out []string
	for _, name := range []string{"a", "b", "x"} {
		if x := in[name]; x != nil {
			var e []string
			for i := range x.Len() {
				e = append(e, fmt.Sprint(x.At(i)))
			}
			out = append(out, fmt.Sprintf("%s%v{%s}", x.DType().CName(), x.Shape(), strings.Join(e, " ")))
		}
	}
	return strings.ReplaceAll(strings.Join(out, " "), "float[", "float[")
}

func TestPredictErrors(t *testing.T) {
	two := types(map[string]tf.DType{"a": tf.Int32, "b": tf.String})
	ints := types(map[string]tf.DType{"x": tf.Int32})
	for _, c := range []struct {
		body  string
		types func(string) (map[string]tf.DType, error)
		want  string
	}{
		{"", one, "JSON Parse error: The document is empty"},
		{" \n", one, "JSON Parse error: The document is empty. at offset: 2"},
		{"{a}", one, "JSON Parse error: Missing a name for object member. at offset: 1"},
		{`{"a": tru}`, one, "JSON Parse error: Invalid value. at offset: 9"},
		{`{"a" 1}`, one, "JSON Parse error: Missing a colon after a name of object member. at offset: 5"},
		{`{"a": 1 2}`, one, "JSON Parse error: Missing a comma or } after an object member. at offset: 8"},
		{`{"a": [1 2]}`, one, "JSON Parse error: Missing a comma or ] after an array element. at offset: 9"},
		{`{"a": "x`, one, "JSON Parse error: Missing a closing quotation mark in string. at offset: 8"},
		{`{"a": 1.}`, one, "JSON Parse error: Miss fraction part in number. at offset: 8"},
		{`{"a": 1e}`, one, "JSON Parse error: Miss exponent in number. at offset: 8"},
		{`{"a": 1e999}`, one, "JSON Parse error: Number too big to be stored in double. at offset: 6"},
		{`{"a": "\x"}`, one, "JSON Parse error: Invalid escape character in string. at offset: 7"},
		{`{"a": "\ud83d"}`, one, "JSON Parse error: The surrogate pair in string is invalid. at offset: 7"},
		{"[1]", one, "JSON Value: [1] Is not object"},
		{`{}`, one, "Missing 'inputs' or 'instances' key"},
		{`{"signature_name": 1}`, one, `JSON Value: {"signature_name": 1} not formatted correctly. 'signature_name' key must be a string value.`},
		{`{"instances": [], "inputs": 1}`, one, `JSON Value: {"instances": [], "inputs": 1} Not formatted correctly expecting only one of 'inputs' or 'instances' keys to exist `},
		{`{"instances": 1}`, one, `JSON Value: {"instances": 1} Expecting 'instances' to be an list/array`},
		{`{"instances": []}`, one, `JSON Value: {"instances": []} No values in 'instances' array`},
		{`{"instances": [[1,2],[1,2,3]]}`, one, "Failed to process element: 1 of 'instances' list. Error: INVALID_ARGUMENT: Expecting tensor size: 2 but got: 3"},
		{`{"instances": [[[1,2]],[[1],[2]]]}`, one, "Failed to process element: 1 of 'instances' list. Error: INVALID_ARGUMENT: Expecting shape [1,2] but got: [2,1]"},
		{`{"instances": [[1,[2]]]}`, one, "Failed to process element: 0 of 'instances' list. Error: INVALID_ARGUMENT: Encountered list at unexpected level: 1 expected < 1"},
		{`{"inputs": [[1],2]}`, one, "JSON Value: 2 found at incorrect level: 2 in the JSON DOM. Expected at level: 2"},
		{`{"instances": [1, 2]}`, two, "instances is a plain list, but expecting list of objects as multiple input tensors required as per tensorinfo_map"},
		{`{"inputs": [1, 2]}`, two, "inputs is a plain value/list, but expecting an object as multiple input tensors required as per tensorinfo_map"},
		{`{"inputs": {"a": 1}}`, two, "Missing named input: b in 'inputs' object."},
		{`{"instances": [{"a": 1}]}`, two, `Failed to process element: 0 of 'instances' list. JSON object: {"a": 1} keys must be equal to: a,b`},
		{`{"instances": [{"a": 1, "b": "", "c": 2}]}`, two, "Failed to process element: 0 key: c of 'instances' list. Error: INVALID_ARGUMENT: JSON object: does not have named input: c"},
		{`{"instances": [{"a": 1, "a": 2}]}`, two, `Failed to process element: 0 key: a of 'instances' list. Error: INVALID_ARGUMENT: an object must have a key once, it has "a" again`},
		{`{"instances": [{"a": 1, "b": ""}, 3]}`, two, "Expecting object but got list at item 1 of input list"},
		{`{"instances": [1, {"x": 2}]}`, one, "Expecting value/list but got object at item 1 of input list"},
		{`{"inputs": [1.0]}`, ints, "JSON Value: 1.0 Type: Number is not of expected type: int32"},
		{`{"inputs": [4294967296]}`, ints, "JSON Value: 4294967296 Type: Number is not of expected type: int32"},
		{`{"inputs": ["a"]}`, ints, `JSON Value: "a" Type: String is not of expected type: int32`},
		{`{"inputs": [{"b64": "*"}]}`, types(map[string]tf.DType{"x": tf.String}), "Unable to base64 decode"},
		{`{"inputs": 0}`, types(map[string]tf.DType{"x": tf.Complex64}), "Conversion of JSON Value: 0 to type: complex64"},
		{`{"inputs": [true]}`, types(map[string]tf.DType{"x": tf.Float16}), "JSON Value: true Type: True is not of expected type: half"},
		{`{"inputs": [65536]}`, types(map[string]tf.DType{"x": tf.Uint16}), "JSON Value: 65536 Type: Number is not of expected type: uint16"},
		{`{"inputs": 0}`, types(nil), "Failed to get input map for signature: DEFAULT"},
		{strings.Repeat("[", 1e6), one, "JSON Parse error: Values are nested too deep. at offset: 300"},
	} {
		_, err := ParsePredict([]byte(c.body), c.types)
		if err == nil || tf.AsError(err).Message() != c.want {
			t.Errorf("%.60s:\n got %v\nwant %s", c.body, err, c.want)
		}
	}
}

// TestBase64: what absl::Base64Unescape takes and refuses, which TensorFlow Serving has.
func TestBase64(t *testing.T) {
	for text, want := range map[string]string{
		"": "", " ": "", "YQ": "a", "YQ==": "a", "YQ==\n": "a", "Y Q=\r\n=\t": "a", "YQ..": "a", "YQ=.": "a", "YWE=": "aa", "YWE": "aa", "YWE.": "aa",
		"YWFh": "aaa", "YWFh\n": "aaa", "YWFh\vYQ==\f": "aaaa", "\nYWFhYQ": "aaaa", "YR==": "a",
		"Y": "!", "YQ=": "!", "YQ===": "!", "YQ=====": "!", "YWE==": "!", "YWFh=": "!", "YWFh====": "!", "=": "!", "YQ==YQ==": "!", "YQ=Y": "!", "*": "!", "YQ==*": "!", "Y\u00a0Q": "!", "_-aa": "!",
	} {
		got, err := decode64([]byte(text))
		if err != nil {
			got = "!"
		}
		if got != want {
			t.Errorf("%q is %q, want %q", text, got, want)
		}
	}
	_, in, err := ParseExamples([]byte(`{"examples": [{"b": {"b64": "YQ==\n"}}]}`))
	if err != nil || len(in.GetExampleList().GetExamples()) != 1 {
		t.Errorf("%v, %v", in, err)
	}
}

func TestExamples(t *testing.T) {
	sig, in, err := ParseExamples([]byte(`{"signature_name": "s", "context": {"c": "x"}, "examples": [{"i": [1, true], "f": 1.5, "b": {"b64": "AA=="}}, {}]}`))
	if err != nil {
		t.Fatal(err)
	}
	e := in.GetExampleListWithContext().GetExamples()[0].GetFeatures().GetFeature()
	if sig != "s" || e["i"].GetInt64List().GetValue()[1] != 1 || e["f"].GetFloatList().GetValue()[0] != 1.5 || e["b"].GetBytesList().GetValue()[0][0] != 0 {
		t.Errorf("signature %q, %v", sig, in)
	}
	for body, want := range map[string]string{
		`{}`:                                         "JSON Value: {} When method is classify, key 'examples' is expected and was not found",
		`{"examples": 1}`:                            `JSON Value: {"examples": 1} Expecting 'examples' value to be an list/array`,
		`{"examples": []}`:                           `JSON Value: {"examples": []} 'examples' value is an empty array`,
		`{"examples": [1]}`:                          "Example must be JSON object but got JSON Number",
		`{"examples": [{"a": [1, 2.5]}]}`:            "Unexpected element type in feature: a expecting type: int64",
		`{"examples": [{"a": null}]}`:                "Feature: a has element with unexpected JSON type: Null",
		`{"examples": [{"a": [[1]]}]}`:               "Feature: a has element with unexpected JSON type: Array",
		`{"examples": [{"a": 9223372036854775808}]}`: "Feature: a has uint64_t element. Only int64_t is supported.",
	} {
		if _, _, err := ParseExamples([]byte(body)); err == nil || tf.AsError(err).Message() != want {
			t.Errorf("%s:\n got %v\nwant %s", body, err, want)
		}
	}
}

func tensor[T tf.Elem](t *testing.T, data []T, shape ...int) *tf.Tensor {
	t.Helper()
	x, err := tf.FromSlice(data, shape...)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

func TestAnswers(t *testing.T) {
	for _, c := range []struct {
		outputs map[string]*tf.Tensor
		format  Format
		want    string
	}{
		{map[string]*tf.Tensor{"y": tensor(t, []float32{0.2, 3, 9e6, 1e-7, float32(math.NaN()), 1.2345678}, 3, 2)}, Rows, `{"predictions":[[0.2,3.0],[9e+06,1e-07],[NaN,1.23456776]]}`},
		{map[string]*tf.Tensor{"y": tensor(t, []float64{0.1, math.Inf(-1)}, 2), "n": tensor(t, []int64{math.MinInt64, 5}, 2)}, Rows, `{"predictions":[{"n":-9223372036854775808,"y":0.1},{"n":5,"y":-Infinity}]}`},
		{map[string]*tf.Tensor{"y": tensor(t, []bool{true})}, Columns, `{"outputs":[true]}`},
		{map[string]*tf.Tensor{"a": tf.Scalar("q\"\n\x01é"), "b_bytes": tf.Scalar("x"), "c": tf.Scalar("\xff")}, Columns, `{"outputs":{"a":"q\"\n\u0001é","b_bytes":{"b64":"eA=="},"c":{"b64":"/w=="}}}`},
	} {
		got, err := AppendPrediction(nil, c.outputs, c.format)
		if flat := strings.ReplaceAll(strings.ReplaceAll(string(got), " ", ""), "\n", ""); err != nil || flat != c.want {
			t.Errorf("got %s, %v, want %s", flat, err, c.want)
		}
	}
	for want, outputs := range map[string]map[string]*tf.Tensor{
		"Tensor name: y has no shape information ":                   {"y": tf.Scalar[float32](1)},
		"Tensor name: z has inconsistent batch size: 2 expecting: 1": {"y": tensor(t, []bool{true}), "z": tensor(t, []bool{true, true})},
		"Failed to write JSON value for tensor type: complex64":      {"y": tensor(t, []complex64{1})},
		"Cannot convert empty tensor map to JSON":                    {},
	} {
		if _, err := AppendPrediction(nil, outputs, Rows); err == nil || tf.AsError(err).Message() != want {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}

// TestNarrow: all numbers of 16 bits, written and read again, are the same ones, and
// decimals are rounded once.
func TestNarrow(t *testing.T) {
	half, brain, whole := make([]tf.Half, 1<<16), make([]tf.BF16, 1<<16), make([]uint16, 1<<16)
	for i := range whole {
		half[i], brain[i], whole[i] = tf.Half(i), tf.BF16(i), uint16(i)
	}
	for _, want := range []*tf.Tensor{tensor(t, half), tensor(t, brain), tensor(t, whole)} {
		body, err := AppendPrediction(nil, map[string]*tf.Tensor{"y": want}, Rows)
		if err != nil {
			t.Fatal(err)
		}
		r, err := ParsePredict(bytes.Replace(body, []byte("predictions"), []byte("instances"), 1), types(map[string]tf.DType{"x": want.DType()}))
		if err != nil {
			t.Fatal(err)
		}
		for i := range want.Len() {
			if got, want := value(r.Inputs["x"], i), value(want, i); got != want {
				t.Fatalf("element %d is %s, want %s", i, got, want)
			}
		}
	}
	const between = `{"inputs": [1.00048828125, 1.0004882812500003, -1.0004882812500003, 65519.999, 65520, 1e300]}` // 1 + 2⁻¹¹ is a tie
	r, err := ParsePredict([]byte(between), types(map[string]tf.DType{"x": tf.Float16}))
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{"1", "1.0009766", "-1.0009766", "65504", "+Inf", "+Inf"} {
		if got := value(r.Inputs["x"], i); got != want {
			t.Errorf("element %d is %s, want %s", i, got, want)
		}
	}
}

// value prints an element by its value.
func value(x *tf.Tensor, i int) string {
	if v, ok := x.At(i).(interface{ Float32() float32 }); ok {
		return fmt.Sprint(v.Float32())
	}
	return fmt.Sprint(x.At(i))
}

// TestDecimals compares numbers with the rule as TensorFlow Serving states it.
func TestDecimals(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 200_000 {
		x := math.Float32frombits(r.Uint32())
		y := math.Float64frombits(r.Uint64())
		if r.IntN(2) == 0 {
			x, y = float32(r.IntN(1e8)-5e7)/float32(r.IntN(100)+1), float64(r.IntN(1e9))/float64(r.IntN(1000)+1)
		}
		if got, want := string(appendFloat(nil, float64(x), 32, 9)), decimal(float64(x), 32, 9); got != want {
			t.Fatalf("%x is written %s, want %s", x, got, want)
		}
		if got, want := string(appendFloat(nil, y, 64, 17)), decimal(y, 64, 17); got != want {
			t.Fatalf("%x is written %s, want %s", y, got, want)
		}
	}
}

func decimal(x float64, bits, digits int) string {
	switch {
	case math.IsNaN(x):
		return "NaN"
	case math.IsInf(x, 0):
		return strings.TrimPrefix(fmt.Sprintf("%finity", x), "+")
	}
	s := fmt.Sprintf("%.6g", x)
	if back, _ := strconv.ParseFloat(s, bits); back != x {
		s = fmt.Sprintf("%.*g", digits, x)
	}
	if !strings.ContainsAny(s, ".e") {
		s += ".0"
	}
	return s
}

// FuzzPredict: no body makes the parser panic, and what it takes can be answered.
func FuzzPredict(f *testing.F) {
	for _, s := range []string{`{"instances": [1, [2], {"x": {"b64": "AA=="}}]}`, `{"inputs": {"x": [NaN, -Infinity, 1e5, "a\u0041"]}}`, `{"signature_name": "s", "examples": [{"a": [1, 2]}], "context": {}}`, `{"instances": [{"x": 1}, {"x": 2}]}`} {
		for _, d := range []byte{0, 1, 2} {
			f.Add([]byte(s), d)
		}
	}
	dtypes := []tf.DType{tf.Float32, tf.String, tf.Int8, tf.Uint64, tf.Bool}
	f.Fuzz(func(t *testing.T, body []byte, d byte) {
		ParseExamples(body)
		r, err := ParsePredict(body, types(map[string]tf.DType{"x": dtypes[int(d)%len(dtypes)]}))
		if err != nil {
			return
		}
		text, err := AppendPrediction(nil, r.Inputs, r.Format)
		if err != nil && r.Format == Rows {
			t.Fatalf("%q: %v", body, err)
		}
		if again, err := ParsePredict(append([]byte(`{"inputs":`), append(inner(text), '}')...), types(map[string]tf.DType{"x": r.Inputs["x"].DType()})); err != nil {
			t.Fatalf("%q: %s: %v", body, text, err)
		} else if a, b := again.Inputs["x"], r.Inputs["x"]; a.Len() != b.Len() {
			t.Fatalf("%q has %v, its answer %v", body, b, a)
		}
	})
}

// inner returns what an answer has behind its key.
func inner(text []byte) []byte {
	_, s, _ := strings.Cut(string(text), ": ")
	return []byte(s[:strings.LastIndex(s, "}")])
}

// BenchmarkImage reads an image that is written as numbers.
func BenchmarkImage(b *testing.B) {
	row := "[" + strings.TrimSuffix(strings.Repeat("[0.12345678, 0.5, 1.0],", 224), ",") + "],"
	body := []byte(`{"instances": [[` + strings.TrimSuffix(strings.Repeat(row, 224), ",") + `]]}`)
	b.SetBytes(int64(len(body)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := ParsePredict(body, one); err != nil {
			b.Fatal(err)
		}
	}
}

// TestManyEmptyRows: rows without elements take no memory as a tensor, and are bounded in JSON.
func TestManyEmptyRows(t *testing.T) {
	for _, c := range []struct {
		shape tf.Shape
		code  tf.Code
	}{{tf.Shape{3, 0}, tf.OK}, {tf.Shape{0, 1 << 40}, tf.OK}, {tf.Shape{1 << 30, 0}, tf.ResourceExhausted}, {tf.Shape{2, 1 << 30, 1 << 30, 0}, tf.ResourceExhausted}, {tf.Shape{1 << 12, 1 << 13, 0, 5}, tf.ResourceExhausted}} {
		x, err := tf.NewTensor(tf.Float32, c.shape)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range []Format{Rows, Columns} {
			if b, err := AppendPrediction(nil, map[string]*tf.Tensor{"y": x}, f); tf.CodeOf(err) != c.code {
				t.Errorf("%v: %d bytes, %v", c.shape, len(b), err)
			}
		}
	}
}

// TestMissingTensor: an answer without one of its tensors is a mistake, no panic.
func TestMissingTensor(t *testing.T) {
	if _, err := AppendPrediction(nil, map[string]*tf.Tensor{"y": nil}, Rows); tf.CodeOf(err) != tf.InvalidArgument {
		t.Error(err)
	}
}
