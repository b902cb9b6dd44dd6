package lookup

import (
	"bufio"
	"context"
	"io"
	"strconv"
	"strings"

	"github.com/gorge-tf/gorge/internal/numeric"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

func init() {
	d := core.OpDef{
		Name: "InitializeTableFromTextFile", In: "table_handle: Ref(string); filename: string",
		Attrs: "key_index: int >= -2; value_index: int >= -2; vocab_size: int >= -1 = -1; delimiter: string = '\t'; offset: int = 0",
		Shape: fileShape, NoGrad: core.NotDifferentiable, Kernels: core.AnyType(fromFile),
	}
	core.Register(d)
	d.Name, d.In, d.Stateful = "InitializeTableFromTextFileV2", "table_handle: resource; filename: string", true
	core.Register(d)
}

// What a key or a value is taken from, other than a field of the line.
const (
	// WholeLine takes the line as it is.
	WholeLine = -2
	// LineNumber takes the number of the line, from 0.
	LineNumber = -1
)

func fileShape(c *core.Infer) error {
	_, err := c.Rank(1, 0)
	return err
}

// A vocabulary says how keys and values are read from a text file.
type vocabulary struct {
	path       string
	key, value int // fields, WholeLine or LineNumber
	size       int // lines that there have to be; -1: as many as there are
	delimiter  string
	offset     int64
}

func fromFile(n *core.Node) (core.Kernel, error) {
	v := vocabulary{key: n.Int("key_index"), value: n.Int("value_index"), size: n.Int("vocab_size"), delimiter: n.Str("delimiter"), offset: int64(n.Int("offset"))}
	if len(v.delimiter) != 1 {
		return nil, tf.Errorf(tf.InvalidArgument, "delimiter should be only 1 char")
	}
	return on(func(c *core.OpContext, t table) error {
		in, err := toInitialize(c, t)
		if err != nil {
			return err
		}
		v := v
		name := c.Input(1)
		if name.Rank() != 0 {
			return tf.Errorf(tf.InvalidArgument, "filename should be a single string, but got %s", name.Shape().String())
		}
		if v.path = core.Data[string](name)[0]; v.path == "" {
			return tf.Errorf(tf.InvalidArgument, "filename cannot be empty.")
		}
		return v.fill(c.Context, in)
	})(n)
}

// fill initializes a table. One that has been filled before stays as it is:
// its name is expected to tell the file.
func (v *vocabulary) fill(ctx context.Context, t initializable) error {
	s := t.about()
	if err := v.check(s); err != nil {
		return err
	}
	if t.initialized() {
		return nil
	}
	keys, values, err := v.read(ctx, s)
	if err != nil {
		return err
	}
	return t.initialize(keys, values)
}

// check compares what is read with the table's types.
func (v *vocabulary) check(s *signature) error {
	line := func(d tf.DType) bool { return d.IsInteger() || d == tf.String }
	switch {
	case v.key == LineNumber && s.key != tf.Int64:
		return tf.Errorf(tf.InvalidArgument, "Key index for line number requires table key dtype of int64, got %s", s.key.CName())
	case v.key == WholeLine && !line(s.key):
		return tf.Errorf(tf.InvalidArgument, "Key index for whole line requires string or integer table key, got %s", s.key.CName())
	case v.value == LineNumber && s.value != tf.Int64:
		return tf.Errorf(tf.InvalidArgument, "Value index for line number requires table value dtype of int64, got %s", s.value.CName())
	case v.value == WholeLine && !line(s.value):
		return tf.Errorf(tf.InvalidArgument, "Value index for whole line requires table value dtype of integer or string, got %s", s.value.CName())
	}
	return nil
}

// read reads all pairs.
func (v *vocabulary) read(ctx context.Context, s *signature) (keys, values *core.Tensor, err error) {
	f, err := core.OpenFile(ctx, core.LocalPath(v.path))
	if err != nil {
		return nil, nil, core.FileError(v.path, err)
	}
	defer f.Close() // of a file that is only read
	defer core.EndReads(ctx, f)()
	r := lines{name: v.path, buffer: bufio.NewReader(f)}
	ks, vs := newList(s.key), newList(s.value)
	for n := 0; v.size < 0 || n < v.size; n++ {
		line, err := r.next()
		if err == io.EOF {
			if err = v.ended(n); err == nil {
				break
			}
		}
		if err == nil {
			err = v.pair(line, n, r.at, ks, vs)
		}
		if err != nil {
			return nil, nil, err
		}
	}
	return ks.tensor(), vs.tensor(), nil
}

// ended reports as an error that a file of n lines is too short.
func (v *vocabulary) ended(n int) error {
	switch {
	case v.size >= 0:
		return tf.Errorf(tf.InvalidArgument, "Invalid vocab_size in %s: expected %d but got %d", v.path, v.size, n)
	case n == 0:
		return tf.Errorf(tf.OutOfRange, "Read less bytes than requested: there is no line in %s", v.path)
	}
	return nil
}

// pair reads key and value from line n, which ends at a position of the file.
func (v *vocabulary) pair(line string, n, at int, ks, vs *list) error {
	if line == "" {
		return tf.Errorf(tf.InvalidArgument, "Invalid content in %s: empty line found at position %d.", v.path, at)
	}
	var fields []string
	if most := max(v.key, v.value); most >= 0 {
		if fields = strings.Split(line, v.delimiter); len(fields) <= most {
			return tf.Errorf(tf.InvalidArgument, "Invalid number of columns in %s line %d (%s) : expected at least %d got %d", v.path, n, line, most+1, len(fields))
		}
	}
	if err := v.put(ks, line, fields, v.key, n); err != nil {
		return err
	}
	return v.put(vs, line, fields, v.value, n)
}

func (v *vocabulary) put(l *list, line string, fields []string, index, n int) error {
	switch index {
	case LineNumber:
		return l.add(strconv.FormatInt(int64(n)+v.offset, 10), n, 0)
	case WholeLine:
		return l.add(line, n, v.offset)
	}
	return l.add(fields[index], n, v.offset)
}

// lines reads lines without what ends them, "\n" or "\r\n".
type lines struct {
	name   string // of the file
	buffer *bufio.Reader
	at     int // where the next line begins
}

func (r *lines) next() (string, error) {
	b, err := core.ReadLine(r.buffer)
	line := string(b)
	core.Room(2 * len(line))
	r.at += len(line)
	line = strings.TrimSuffix(strings.TrimSuffix(line, "\n"), "\r")
	switch {
	case err == io.EOF && line != "":
		err = nil
	case core.Exhausted(err):
		err = &tf.Error{Code: tf.ResourceExhausted, Msg: r.name + " must fit into memory; " + err.Error(), Err: err}
	case err != nil && err != io.EOF:
		err = core.FileError(r.name, err)
	}
	return line, err
}

// A list collects numbers or strings that are given as text.
type list struct {
	d       tf.DType
	ints    []int64
	floats  []float64
	strings []string
}

func newList(d tf.DType) *list { return &list{d: d} }

// add adds the value of a field in line n. An offset goes only to int32, as in
// TensorFlow.
func (l *list) add(field string, n int, offset int64) error {
	ok := true
	switch l.d {
	case tf.Int32, tf.Int64:
		v, is := numeric.ParseInt(field, l.d.Size()*8)
		if l.d == tf.Int32 {
			v += offset
		}
		l.ints, ok = append(l.ints, v), is
	case tf.Float32, tf.Float64:
		v, is := numeric.ParseFloat(field, l.d.Size()*8)
		l.floats, ok = append(l.floats, v), is
	case tf.String:
		l.strings = append(l.strings, field)
	default:
		return tf.Errorf(tf.InvalidArgument, "Data type %s not supported.", l.d.CName())
	}
	if !ok {
		return tf.Errorf(tf.InvalidArgument, "Field %s in line %d is not a valid %s.", field, n, l.d.CName())
	}
	return nil
}

func (l *list) tensor() *core.Tensor {
	n := max(len(l.ints), len(l.floats), len(l.strings))
	t := core.NewTensor(l.d, tf.Shape{n})
	for i := range n {
		switch l.d {
		case tf.Int32:
			core.Data[int32](t)[i] = int32(l.ints[i])
		case tf.Int64:
			core.Data[int64](t)[i] = l.ints[i]
		case tf.Float32:
			core.Data[float32](t)[i] = float32(l.floats[i])
		case tf.Float64:
			core.Data[float64](t)[i] = l.floats[i]
		case tf.String:
			core.Data[string](t)[i] = l.strings[i]
		}
	}
	return t
}
