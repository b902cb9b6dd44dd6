package restjson

import (
	"encoding/base64"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/pb/servingpb"
)

// AppendPrediction appends the answer to a request :predict in its format. Errors
// are InvalidArgument: rows need outputs of one size in dimension 0, and some types
// have no JSON.
func AppendPrediction(b []byte, outputs map[string]*tf.Tensor, f Format) ([]byte, error) {
	if len(outputs) == 0 {
		return nil, tf.Errorf(tf.InvalidArgument, "Cannot convert empty tensor map to JSON")
	}
	w := &writer{b: b}
	for _, name := range slices.Sorted(maps.Keys(outputs)) {
		if outputs[name] == nil {
			return nil, tf.Errorf(tf.InvalidArgument, "Tensor name: %s has no tensor, got nil", name)
		}
		p, err := printerOf(name, outputs[name])
		if err != nil {
			return nil, err
		}
		w.outputs = append(w.outputs, p)
	}
	if f == Columns {
		w.columns()
		return w.b, nil
	}
	n, err := w.rowCount()
	if err != nil {
		return nil, err
	}
	w.rows(n)
	return w.b, nil
}

// A writer writes tensors.
type writer struct {
	b       []byte
	outputs []*printer
}

// A printer writes the elements of a tensor, one after the other.
type printer struct {
	name  string
	shape tf.Shape
	next  int
	print func(b []byte, i int) []byte
}

func (w *writer) columns() {
	w.b = append(w.b, "{\n    \"outputs\": "...)
	w.members(func(p *printer) { w.b = p.append(w.b, 0) })
	w.b = append(w.b, "\n}\n"...)
}

// members writes the only output as it is, several as an object.
func (w *writer) members(value func(*printer)) {
	if len(w.outputs) == 1 {
		value(w.outputs[0])
		return
	}
	w.b = append(w.b, '{')
	for i, p := range w.outputs {
		if i > 0 {
			w.b = append(w.b, ", "...)
		}
		w.b = append(appendString(w.b, p.name), ": "...)
		value(p)
	}
	w.b = append(w.b, '}')
}

// rowCount returns the size of dimension 0, which all outputs must have.
func (w *writer) rowCount() (int, error) {
	count := -1
	for _, p := range w.outputs {
		if len(p.shape) == 0 {
			return 0, tf.Errorf(tf.InvalidArgument, "Tensor name: %s has no shape information ", p.name)
		}
		if count >= 0 && p.shape[0] != count {
			return 0, tf.Errorf(tf.InvalidArgument, "Tensor name: %s has inconsistent batch size: %d expecting: %d", p.name, p.shape[0], count)
		}
		count = p.shape[0]
	}
	return count, nil
}

func (w *writer) rows(n int) {
	w.b = append(w.b, "{\n    \"predictions\": ["...)
	for i := range n {
		if i > 0 {
			w.b = append(w.b, ", "...)
		}
		w.members(func(p *printer) { w.b = p.append(w.b, 1) })
	}
	w.b = append(w.b, "]\n}\n"...)
}

// append writes the part of a tensor that lies below dimension dim.
func (p *printer) append(b []byte, dim int) []byte {
	if dim >= len(p.shape) {
		b = p.print(b, p.next)
		p.next++
		return b
	}
	b = append(b, '[')
	for i := range p.shape[dim] {
		if i > 0 {
			b = append(b, ", "...)
		}
		b = p.append(b, dim+1)
	}
	return append(b, ']')
}

// maxEmptyLists bounds what a tensor without elements, which takes no memory, becomes in
// JSON: some bytes for each list of nothing.
const maxEmptyLists = 1 << 24

// emptyLists returns how many lists a tensor without elements has, maxEmptyLists + 1 if
// there are more.
func emptyLists(s tf.Shape) int {
	all, level := 1, 1
	for _, n := range s {
		if n == 0 || all > maxEmptyLists {
			break
		}
		level *= min(n, maxEmptyLists)
		all = min(all+level, maxEmptyLists+1)
		level = min(level, maxEmptyLists)
	}
	return all
}

// printerOf returns the printer of an output.
func printerOf(name string, t *tf.Tensor) (*printer, error) {
	p := &printer{name: name, shape: t.Shape()}
	if t.Len() == 0 && emptyLists(p.shape) > maxEmptyLists {
		return nil, tf.Errorf(tf.ResourceExhausted, "Tensor name: %s has no elements, and more lists of them than JSON may have: its shape is %v", name, p.shape)
	}
	switch t.DType() {
	case tf.Float32:
		p.print = each(t, func(b []byte, x float32) []byte { return appendFloat(b, float64(x), 32, 9) })
	case tf.Float64:
		p.print = each(t, func(b []byte, x float64) []byte { return appendFloat(b, x, 64, 17) })
	case tf.Float16:
		p.print = each(t, func(b []byte, x tf.Half) []byte { return appendNarrow(b, x.Float32(), 5) })
	case tf.BFloat16:
		p.print = each(t, func(b []byte, x tf.BF16) []byte { return appendNarrow(b, x.Float32(), 4) })
	case tf.Int8:
		p.print = each(t, appendInt[int8])
	case tf.Int16:
		p.print = each(t, appendInt[int16])
	case tf.Int32:
		p.print = each(t, appendInt[int32])
	case tf.Int64:
		p.print = each(t, appendInt[int64])
	case tf.Uint8:
		p.print = each(t, appendUint[uint8])
	case tf.Uint16:
		p.print = each(t, appendUint[uint16])
	case tf.Uint32:
		p.print = each(t, appendUint[uint32])
	case tf.Uint64:
		p.print = each(t, appendUint[uint64])
	case tf.Bool:
		p.print = each(t, strconv.AppendBool)
	case tf.String:
		p.print = each(t, appendString)
		if strings.HasSuffix(name, "_bytes") {
			p.print = each(t, appendBytes)
		}
	default:
		return nil, tf.Errorf(tf.InvalidArgument, "Failed to write JSON value for tensor type: %s", t.DType().CName())
	}
	return p, nil
}

func each[T tf.Elem](t *tf.Tensor, print func([]byte, T) []byte) func([]byte, int) []byte {
	data := tf.Data[T](t)
	return func(b []byte, i int) []byte { return print(b, data[i]) }
}

func appendInt[T int8 | int16 | int32 | int64](b []byte, x T) []byte {
	return strconv.AppendInt(b, int64(x), 10)
}

func appendUint[T uint8 | uint16 | uint32 | uint64](b []byte, x T) []byte {
	return strconv.AppendUint(b, uint64(x), 10)
}

// appendFloat writes a number as printf does with %g: in 6 digits if that reads
// back equal, else in as many as every number of the type needs. Six digits are
// enough if and only if the shortest form that reads back equal has no more; numbers
// near zero that have lost precision are the exception. Whole numbers get ".0".
func appendFloat(b []byte, x float64, bits, digits int) []byte {
	switch {
	case math.IsNaN(x):
		return append(b, "NaN"...)
	case math.IsInf(x, 1):
		return append(b, "Infinity"...)
	case math.IsInf(x, -1):
		return append(b, "-Infinity"...)
	}
	begin := len(b)
	if tiny := math.Abs(x) < smallest[bits]; tiny && x != 0 {
		b = strconv.AppendFloat(b, x, 'g', 6, 64)
		if back, _ := strconv.ParseFloat(string(b[begin:]), bits); back == x {
			return b
		}
		return strconv.AppendFloat(b[:begin], x, 'g', digits, 64)
	}
	b = strconv.AppendFloat(b, x, 'g', -1, bits)
	n, point := significant(b[begin:])
	if n > 6 {
		b = strconv.AppendFloat(b[:begin], x, 'g', digits, 64)
		_, point = significant(b[begin:])
	}
	if !point {
		b = append(b, ".0"...)
	}
	return b
}

// appendNarrow writes a number of 16 bits in as many digits as every one of its type
// needs.
func appendNarrow(b []byte, x float32, digits int) []byte {
	if x != x || math.IsInf(float64(x), 0) {
		return appendFloat(b, float64(x), 32, 9)
	}
	begin := len(b)
	b = strconv.AppendFloat(b, float64(x), 'g', digits, 32)
	if _, point := significant(b[begin:]); !point {
		b = append(b, ".0"...)
	}
	return b
}

// smallest has the least numbers of full precision, by the bits of their types.
var smallest = map[int]float64{32: 0x1p-126, 64: 0x1p-1022}

// significant counts the digits of a number up to the exponent, without zeros at
// its beginning and, of whole numbers, at its end, and reports whether it has a
// point or an exponent.
func significant(b []byte) (n int, point bool) {
	zeros := 0
	for _, c := range b {
		switch {
		case c == '.':
			point = true
		case c == 'e':
			return n, true
		case c == '0' && n == 0 && zeros == 0:
		case c == '0':
			zeros++
		case c >= '1' && c <= '9':
			n += zeros + 1
			zeros = 0
		}
	}
	return n, point
}

func appendBytes(b []byte, s string) []byte {
	b = append(b, `{"b64": "`...)
	b = base64.StdEncoding.AppendEncode(b, []byte(s))
	return append(b, `"}`...)
}

// appendString writes a string; one that is not UTF-8 has no JSON and is written
// as bytes.
func appendString(b []byte, s string) []byte {
	if !utf8.ValidString(s) {
		return appendBytes(b, s)
	}
	b = append(b, '"')
	for i := range len(s) {
		b = appendEscaped(b, s[i])
	}
	return append(b, '"')
}

func appendEscaped(b []byte, c byte) []byte {
	const digits = "0123456789ABCDEF"
	switch {
	case c == '"' || c == '\\':
		return append(b, '\\', c)
	case c == '\n':
		return append(b, `\n`...)
	case c == '\r':
		return append(b, `\r`...)
	case c == '\t':
		return append(b, `\t`...)
	case c < ' ':
		return append(b, '\\', 'u', '0', '0', digits[c>>4], digits[c&15])
	}
	return append(b, c)
}

// AppendClassification appends the answer to a request :classify.
func AppendClassification(b []byte, r *servingpb.ClassificationResult) ([]byte, error) {
	if len(r.GetClassifications()) == 0 {
		return nil, tf.Errorf(tf.InvalidArgument, "Cannot convert empty ClassificationResults to JSON")
	}
	b = append(b, "{\n    \"results\": ["...)
	for i, c := range r.GetClassifications() {
		b = append(comma(b, i), '[')
		for j, class := range c.GetClasses() {
			b = appendString(append(comma(b, j), '['), class.GetLabel())
			b = append(appendFloat(append(b, ", "...), float64(class.GetScore()), 32, 9), ']')
		}
		b = append(b, ']')
	}
	return append(b, "]\n}\n"...), nil
}

// AppendRegression appends the answer to a request :regress.
func AppendRegression(b []byte, r *servingpb.RegressionResult) ([]byte, error) {
	if len(r.GetRegressions()) == 0 {
		return nil, tf.Errorf(tf.InvalidArgument, "Cannot convert empty RegressionResults to JSON")
	}
	b = append(b, "{\n    \"results\": ["...)
	for i, v := range r.GetRegressions() {
		b = appendFloat(comma(b, i), float64(v.GetValue()), 32, 9)
	}
	return append(b, "]\n}\n"...), nil
}

func comma(b []byte, i int) []byte {
	if i > 0 {
		return append(b, ", "...)
	}
	return b
}

// AppendError appends the answer to a request that failed.
func AppendError(b []byte, message string) []byte {
	b = append(b, `{ "error": `...)
	return append(appendString(b, strings.ToValidUTF8(message, "�")), " }\n"...)
}
