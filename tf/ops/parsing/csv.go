package parsing

import (
	"slices"
	"strings"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

func init() {
	register("DecodeCSV", "records: string; record_defaults: OUT_TYPE", "output: OUT_TYPE",
		"OUT_TYPE: list({float, double, int32, int64, string}) >= 1; field_delim: string = ','; use_quote_delim: bool = true; na_value: string = ''; select_cols: list(int) = []",
		csvShape, core.AnyType(decodeCSV))
}

// CSVOpts are the optional attributes of DecodeCSV.
type CSVOpts struct {
	Delim      string // one character; "": a comma
	NoQuotes   bool   // quotes are characters like others
	NA         string // a field that counts as missing, beside the empty one
	SelectCols []int  // the fields to decode, in order; nil: all
}

// Apply sets the attributes.
func (o CSVOpts) Apply(s *tf.Spec) {
	if o.Delim != "" {
		s.Set("field_delim", o.Delim)
	}
	s.Set("use_quote_delim", !o.NoQuotes)
	s.Set("na_value", o.NA)
	cols := make([]int64, len(o.SelectCols))
	for i, c := range o.SelectCols {
		cols[i] = int64(c)
	}
	s.Set("select_cols", cols)
}

// DecodeCSV splits records into fields. The form is that of RFC 4180. There
// is a tensor of the records' shape for each field, of the type of its
// default: a scalar, a vector of one element, or an empty one when the field
// must not be missing. records is a tensor of strings of any shape; the
// fields are float32, float64, int32, int64 or string. A default of more than
// one element or of two dimensions is refused with INVALID_ARGUMENT, when the
// graph is built if its shape is known, else in the step. So are, in the
// step, a record with another number of fields than defaults, a field that
// does not spell its type, an empty field without a default, and quotes that
// are not closed or not doubled inside a field. Only a delimiter of one byte
// is taken, and the columns of SelectCols must rise.
// Its options are [CSVOpts].
func DecodeCSV(records tf.Output, defaults []tf.Output, opts ...tf.Option) []tf.Output {
	o := tf.Apply(nil, "DecodeCSV", append([]tf.Output{records}, defaults...), opts...)
	out := make([]tf.Output, len(defaults))
	for i := range out {
		out[i] = o.Output(i)
	}
	return out
}

func csvShape(c *core.Infer) error {
	for i := 1; i < c.NumIn(); i++ {
		s := c.In(i)
		if len(s) > 1 {
			return tf.Errorf(tf.InvalidArgument, "Shape must be at most rank 1 but is rank %d", len(s))
		}
		if len(s) == 1 && s[0] > 1 {
			return tf.Errorf(tf.InvalidArgument, "Shape of a default must be a length-0 or length-1 vector, or a scalar.")
		}
	}
	for i := range c.NumOut() {
		c.Set(i, c.In(0))
	}
	return nil
}

// A csv says how records are split.
type csv struct {
	delim  byte
	quotes bool
	na     string
	cols   []int // which fields count; nil: all
}

func newCSV(n *core.Node) (*csv, error) {
	delim := n.Str("field_delim")
	if len(delim) != 1 {
		return nil, tf.Errorf(tf.InvalidArgument, "field_delim should be only 1 char")
	}
	f := &csv{delim: delim[0], quotes: n.Bool("use_quote_delim"), na: n.Str("na_value")}
	cols, _ := n.Attr("select_cols").([]int64)
	for i, c := range cols {
		if i > 0 && c <= cols[i-1] {
			return nil, tf.Errorf(tf.InvalidArgument, "select_cols should be strictly increasing indices")
		}
		f.cols = append(f.cols, int(c))
	}
	if len(cols) > 0 && len(cols) != len(n.OutTypes) {
		return nil, tf.Errorf(tf.InvalidArgument, "select_cols should match output size")
	}
	if len(cols) > 0 && cols[0] < 0 {
		return nil, tf.Errorf(tf.InvalidArgument, "select_cols should be non-negative indices")
	}
	return f, nil
}

func decodeCSV(n *core.Node) (core.Kernel, error) {
	f, err := newCSV(n)
	if err != nil {
		return nil, err
	}
	return core.Compute(func(c *core.OpContext) error {
		records := c.Input(0)
		columns := make([]column, len(n.OutTypes))
		for i, d := range n.OutTypes {
			def := c.Input(1 + i)
			if def.Rank() > 1 {
				return tf.Errorf(tf.InvalidArgument, "Each record default should be at most rank 1")
			}
			if def.Len() > 1 {
				return tf.Errorf(tf.InvalidArgument, "There should only be 1 default per field but field %d has %d", i, def.Len())
			}
			out, err := c.Alloc(i, d, records.Shape())
			if err != nil {
				return err
			}
			columns[i] = newColumn(out, def)
		}
		var fields []string
		for i, r := range core.Data[string](records) {
			if fields, err = f.split(fields[:0], r); err != nil {
				return err
			}
			if err := f.fill(columns, fields, i); err != nil {
				return err
			}
		}
		return nil
	}), nil
}

// fill sets the elements of record i.
func (f *csv) fill(columns []column, fields []string, i int) error {
	if len(fields) != len(columns) {
		return tf.Errorf(tf.InvalidArgument, "Expect %d fields but have %d in record %d", len(columns), len(fields), i)
	}
	for k, text := range fields {
		switch col := columns[k]; {
		case text != "" && text != f.na:
			if !col.parse(i, text) {
				return tf.Errorf(tf.InvalidArgument, "Field %d in record %d is not a valid %s: %s", k, i, col.dtype.CName(), text)
			}
		case col.missing == nil:
			return tf.Errorf(tf.InvalidArgument, "Field %d is required but missing in record %d!", k, i)
		default:
			col.missing(i)
		}
	}
	return nil
}

// A column sets the elements of one output.
type column struct {
	dtype   tf.DType
	parse   func(i int, text string) bool
	missing func(i int) // nil: there is no default
}

func newColumn(out, def *core.Tensor) column {
	switch out.DType() {
	case tf.Float32:
		return columnOf(out, def, parseFloat32)
	case tf.Float64:
		return columnOf(out, def, parseFloat64)
	case tf.Int32:
		return columnOf(out, def, parseInt32)
	case tf.Int64:
		return columnOf(out, def, parseInt64)
	}
	return columnOf(out, def, func(s string) (string, bool) { return s, true })
}

func columnOf[T tf.Elem](out, def *core.Tensor, parse func(string) (T, bool)) column {
	to, defaults := core.Data[T](out), core.Data[T](def)
	c := column{dtype: out.DType(), parse: func(i int, text string) (ok bool) {
		to[i], ok = parse(text)
		return ok
	}}
	if len(defaults) == 1 {
		c.missing = func(i int) { to[i] = defaults[0] }
	}
	return c
}

// split appends the fields of a record that count.
func (f *csv) split(fields []string, record string) ([]string, error) {
	for number, rest := 0, record; ; number++ {
		rest = strings.TrimLeft(rest, "\r\n")
		if rest == "" {
			if record != "" && record[len(record)-1] == f.delim && f.wants(number) {
				fields = append(fields, "") // behind the last delimiter
			}
			return fields, nil
		}
		field, after, err := f.next(rest)
		if err != nil {
			return nil, err
		}
		rest = after
		if f.wants(number) {
			fields = append(fields, field)
		}
		if f.cols != nil && len(fields) == len(f.cols) {
			return fields, nil
		}
	}
}

func (f *csv) wants(number int) bool {
	if f.cols == nil {
		return true
	}
	_, ok := slices.BinarySearch(f.cols, number)
	return ok
}

// next returns the first field and what is behind its delimiter.
func (f *csv) next(s string) (field, rest string, err error) {
	if f.quotes && s[0] == '"' {
		return f.quoted(s[1:])
	}
	end := strings.IndexByte(s, f.delim)
	if end < 0 {
		end = len(s)
	}
	field = s[:end]
	if strings.ContainsAny(field, "\r\n") || f.quotes && strings.Contains(field, "\"") {
		return "", "", tf.Errorf(tf.InvalidArgument, "Unquoted fields cannot have quotes/CRLFs inside")
	}
	return field, s[min(end+1, len(s)):], nil
}

// quoted returns the field that ends with a quote and a delimiter, or the end.
func (f *csv) quoted(s string) (field, rest string, err error) {
	var b strings.Builder
	i := 0
	for i < len(s)-1 && (s[i] != '"' || s[i+1] != f.delim) {
		b.WriteByte(s[i])
		if s[i] == '"' {
			if i++; s[i] != '"' {
				return "", "", tf.Errorf(tf.InvalidArgument, "Quote inside a string has to be escaped by another quote")
			}
		}
		i++
	}
	if i >= len(s) || s[i] != '"' {
		return "", "", tf.Errorf(tf.InvalidArgument, "Quoted field has to end with quote followed by delim or end")
	}
	return b.String(), s[min(i+2, len(s)):], nil
}
