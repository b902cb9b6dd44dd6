package dataset

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/gorge-tf/gorge/internal/numeric"
	"github.com/gorge-tf/gorge/internal/rows"
	"github.com/gorge-tf/gorge/tf/core"
)

// CSV says how files of comma-separated values are read.
type CSV struct {
	Names       []string
	Compression string
	Header      bool // the first line of a file has no values
	Delim       byte
	Quotes      bool   // fields may be quoted
	NA          string // stands for no value, as an empty field does
	// Select has the numbers of the columns to read, Exclude those not to be
	// read, in order; all are read if both are empty.
	Select, Exclude []int64
	// Defaults has, for each column that is read, a vector of its type with the
	// value of what is missing; empty if it must not be missing.
	Defaults []*core.Tensor
	Shapes   []core.Shape
}

// Open returns the records of the files.
func (c CSV) Open() (Dataset, error) {
	spec := &Spec{Shapes: c.Shapes}
	for i, d := range c.Defaults {
		if d.Rank() > 1 {
			return nil, core.Errorf(core.InvalidArgument, "Each record default should be at most rank 1")
		}
		if d.Len() > 1 {
			return nil, core.Errorf(core.InvalidArgument, "There should only be 1 default per field but field %d has %d", i, d.Len())
		}
		spec.Types = append(spec.Types, d.DType())
	}
	switch {
	case len(c.Select) > 0 && len(c.Exclude) > 0:
		return nil, core.Errorf(core.InvalidArgument, "Either select_cols or exclude_cols should be empty")
	case len(c.Select) > 0 && len(c.Select) != len(c.Defaults):
		return nil, core.Errorf(core.InvalidArgument, "select_cols should match output size")
	case !ascending(c.Select):
		return nil, core.Errorf(core.InvalidArgument, "select_cols should be strictly increasing indices")
	case !ascending(c.Exclude):
		return nil, core.Errorf(core.InvalidArgument, "exclude_cols should be strictly increasing indices")
	case len(c.Select) > 0 && c.Select[0] < 0:
		return nil, core.Errorf(core.InvalidArgument, "select_cols should be non-negative indices")
	case len(c.Exclude) > 0 && c.Exclude[0] < 0:
		return nil, core.Errorf(core.InvalidArgument, "exclude_cols should be non-negative indices")
	}
	d, err := ofFiles(spec, c.Names, c.Compression, func(r *bufio.Reader) func() (Element, error) {
		return newCSVReader(&c, r).next
	})
	if err != nil {
		return nil, err
	}
	d.lenient = true
	return d, nil
}

func ascending(v []int64) bool {
	for i := 1; i < len(v); i++ {
		if v[i] <= v[i-1] {
			return false
		}
	}
	return true
}

// A csvReader reads the records of one file.
type csvReader struct {
	*CSV
	r      *bufio.Reader
	marks  [256]bool // bytes that are not just part of a field
	header bool      // is still to be passed over
	line   int       // how many line ends have been read
	first  int       // the number of the line that the record at hand begins with
	column int64     // of the record at hand, counted from 0
	field  []byte
	row    Element
	err    error // of the record, which is read to its end all the same
}

func newCSVReader(c *CSV, r *bufio.Reader) *csvReader {
	reader := &csvReader{CSV: c, r: r, header: c.Header}
	for _, b := range []byte{c.Delim, '"', '\n', '\r'} {
		reader.marks[b] = true
	}
	return reader
}

func (c *csvReader) next() (Element, error) {
	if c.header {
		c.header = false
		if err := c.record(func(int64) bool { return false }); err != nil || c.err != nil {
			return nil, core.Errorf(core.InvalidArgument, "Can't read header of file")
		}
	}
	if err := c.record(c.reads); err != nil {
		return nil, err
	}
	if c.err == nil && len(c.row) != len(c.Defaults) {
		c.fail("Expect %d fields but have %d in record", len(c.Defaults), len(c.row))
	}
	return c.row, c.err
}

// reads reports whether a column is read.
func (c *csvReader) reads(column int64) bool {
	if len(c.Select) > 0 {
		return slices.Contains(c.Select, column)
	}
	return !slices.Contains(c.Exclude, column)
}

// fail keeps the first error of a record.
func (c *csvReader) fail(format string, args ...any) {
	if c.err == nil {
		err := core.AsError(core.Errorf(core.InvalidArgument, format, args...))
		err.Plain = fmt.Sprintf("line %d, column %d: %s", c.first, c.column+1, err.Msg)
		c.err = err
	}
}

// byte reads a byte and counts lines.
func (c *csvReader) byte() (byte, error) {
	b, err := c.r.ReadByte()
	if b == '\n' && err == nil {
		c.line++
	}
	return b, err
}

// plain adds to the field what the buffer holds up to a mark. It is what reading byte
// by byte comes to, without the calls.
func (c *csvReader) plain() {
	ahead, _ := c.r.Peek(c.r.Buffered())
	n := 0
	for n < len(ahead) && !c.marks[ahead[n]] {
		n++
	}
	c.field = append(c.field, ahead[:n]...)
	_, _ = c.r.Discard(n)
}

// record reads a record into row; io.EOF tells that there is none.
func (c *csvReader) record(reads func(int64) bool) error {
	c.row, c.err, c.first, c.column = make(Element, 0, len(c.Defaults)), nil, c.line+1, 0
	if _, err := c.r.Peek(1); err != nil {
		return err
	}
	for ; ; c.column++ {
		included := reads(c.column)
		ended, err := c.one()
		if err != nil {
			return err
		}
		if included && c.err == nil {
			c.value(c.field)
		}
		if ended {
			return nil
		}
	}
}

// one reads a field and reports whether it ends the record.
func (c *csvReader) one() (ended bool, err error) {
	c.field = c.field[:0]
	b, err := c.byte()
	if err != nil {
		return true, unlessEnd(err)
	}
	if c.Quotes && b == '"' {
		return c.quoted()
	}
	for ; err == nil; b, err = c.byte() {
		switch {
		case b == c.Delim:
			return false, nil
		case b == '\n' || b == '\r':
			return true, c.lineEnd(b)
		case c.Quotes && b == '"':
			c.fail("Unquoted fields cannot have quotes inside")
		}
		c.field = append(c.field, b)
		c.plain()
	}
	return true, unlessEnd(err)
}

func unlessEnd(err error) error {
	if errors.Is(err, io.EOF) {
		return nil
	}
	return err
}

// lineEnd passes over the second half of "\r\n".
func (c *csvReader) lineEnd(b byte) error {
	if b == '\n' {
		return nil
	}
	if next, err := c.byte(); err != nil {
		return unlessEnd(err)
	} else if next != '\n' {
		c.line++ // "\r" alone ends a line, too
		return c.r.UnreadByte()
	}
	return nil
}

// quoted reads the rest of a field whose quotes have begun. That it does not end counts more than what
// else is wrong with it.
func (c *csvReader) quoted() (ended bool, err error) {
	for before := c.err; ; {
		b, err := c.byte()
		if errors.Is(err, io.EOF) {
			c.err = before
			c.fail("Reached end of file without closing quoted field in record")
			return true, nil
		}
		if err != nil {
			return true, err
		}
		if b != '"' {
			c.field = append(c.field, b)
			c.plain()
			continue
		}
		b, err = c.byte()
		switch {
		case err != nil:
			return true, unlessEnd(err)
		case b == c.Delim:
			return false, nil
		case b == '\n' || b == '\r':
			return true, c.lineEnd(b)
		case b != '"':
			c.fail("Quote inside a string has to be escaped by another quote")
		}
		c.field = append(c.field, b)
	}
}

// value adds a field to the row.
func (c *csvReader) value(field []byte) {
	i := len(c.row)
	if i >= len(c.Defaults) {
		c.fail("Expect %d fields but have more in record", len(c.Defaults))
		return
	}
	t := core.NewTensor(c.Defaults[i].DType(), core.Shape{})
	if len(field) == 0 || string(field) == c.NA {
		if c.Defaults[i].Len() == 0 {
			c.fail("Field %d is required but missing in record!", i)
			return
		}
		rows.Copy(t, c.Defaults[i], 0, 0, 1)
	} else if !convert(t, field) {
		c.fail("Field %d in record is not a valid %s: %s", i, t.DType().CName(), field)
		return
	}
	c.row = append(c.row, t)
}

// convert sets t, a scalar, to what a text says.
func convert(t *core.Tensor, s []byte) bool {
	ok := true
	switch t.DType() {
	case core.Int32:
		var v int64
		v, ok = numeric.ParseInt(string(s), 32)
		core.Data[int32](t)[0] = int32(v)
	case core.Int64:
		core.Data[int64](t)[0], ok = numeric.ParseInt(string(s), 64)
	case core.Float32:
		var v float64
		v, ok = numeric.ParseFloat(string(s), 32)
		core.Data[float32](t)[0] = float32(v)
	case core.Float64:
		core.Data[float64](t)[0], ok = numeric.ParseFloat(string(s), 64)
	case core.String:
		core.Data[string](t)[0] = string(s)
	default:
		return false
	}
	return ok
}
