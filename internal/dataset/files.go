package dataset

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"slices"

	"github.com/gorge-tf/gorge/internal/wire/record"
	"github.com/gorge-tf/gorge/tf/core"
	packed "github.com/gorge-tf/gorge/tf/record"
)

// A format takes elements out of a stream. After the last one it returns io.EOF;
// after an error of other bytes than its own, which ends the file, there is none.
type format func(r *bufio.Reader) func() (Element, error)

// texts is what has one string in each element.
var texts = &Spec{[]core.DType{core.String}, []core.Shape{{}}}

// records makes the format of records of bytes, which are copied.
func records(of func(r *bufio.Reader) func() ([]byte, error)) format {
	return func(r *bufio.Reader) func() (Element, error) {
		next := of(r)
		return func() (Element, error) {
			b, err := next()
			if err != nil {
				return nil, err
			}
			core.Room(len(b))
			return Element{core.Scalar(string(b))}, nil
		}
	}
}

// Lines returns the lines of text files, without what ends them and without carriage
// returns.
func Lines(names []string, compression string) (Dataset, error) {
	return orNone(ofFiles(texts, names, compression, records(func(r *bufio.Reader) func() ([]byte, error) {
		return func() ([]byte, error) {
			line, err := core.ReadLine(r)
			line = slices.DeleteFunc(bytes.TrimSuffix(line, []byte("\n")), func(b byte) bool { return b == '\r' })
			if err != nil && (!errors.Is(err, io.EOF) || len(line) == 0) {
				return nil, err
			}
			return line, nil
		}
	})))
}

// Records returns the records of TFRecord files.
func Records(names []string, compression string) (Dataset, error) {
	return orNone(ofRecords(names, compression, record.NewReader))
}

// UnfinishedRecords is Records for files that may still be written, see
// [record.Reader.Unfinished].
func UnfinishedRecords(names []string, compression string) (Dataset, error) {
	return orNone(ofRecords(names, compression, func(r io.Reader) *record.Reader { return record.NewReader(r).Unfinished() }))
}

func ofRecords(names []string, compression string, reader func(io.Reader) *record.Reader) (*files, error) {
	format := records(func(r *bufio.Reader) func() ([]byte, error) { return reader(r).Next })
	if compression == string(packed.SNAPPY) { // which only files of records have
		return &files{common: common{texts}, names: names, compression: compression, format: format}, nil
	}
	return ofFiles(texts, names, compression, format)
}

// orNone returns d, or none with an error.
func orNone(d *files, err error) (Dataset, error) {
	if err != nil {
		return nil, err
	}
	return d, nil
}

// RecordsFrom is Records from a place in each file on, in uncompressed bytes.
func RecordsFrom(names []string, compression string, from []int64) (Dataset, error) {
	if len(from) != len(names) {
		return nil, core.Errorf(core.InvalidArgument, "`byte_offsets` must have as many elements as `filenames`, got %d and %d", len(from), len(names))
	}
	for _, n := range from {
		if n < 0 {
			return nil, core.Errorf(core.InvalidArgument, "`byte_offsets` must be >= 0, got %d", n)
		}
	}
	d, err := ofRecords(names, compression, record.NewReader)
	if err != nil {
		return nil, err
	}
	d.from = from
	return d, nil
}

// mostFixed bounds the length of records, which have to fit in memory.
const mostFixed = 1 << 30

// FixedLength returns the stretches of length bytes that files have between a
// header and a footer.
func FixedLength(names []string, compression string, header, length, footer int64) (Dataset, error) {
	switch {
	case header < 0:
		return nil, core.Errorf(core.InvalidArgument, "`header_bytes` must be >= 0, got %d", header)
	case length <= 0 || length > mostFixed:
		return nil, core.Errorf(core.InvalidArgument, "`record_bytes` must be > 0 and at most %d, got %d", mostFixed, length)
	case footer < 0 || footer > mostFixed:
		return nil, core.Errorf(core.InvalidArgument, "`footer_bytes` must be >= 0 and at most %d, got %d", mostFixed, footer)
	}
	d, err := ofFiles(texts, names, compression, records(func(r *bufio.Reader) func() ([]byte, error) {
		skip, body := header, bufio.NewReaderSize(r, int(length+footer))
		return func() ([]byte, error) {
			if _, err := io.CopyN(io.Discard, body, skip); errors.Is(err, io.EOF) {
				return nil, core.Errorf(core.InvalidArgument, "the file is shorter than the header of %d bytes", header)
			} else if err != nil {
				return nil, err
			}
			skip = 0
			b, err := body.Peek(int(length + footer))
			switch {
			case errors.Is(err, io.EOF) && int64(len(b)) == footer:
				return nil, io.EOF
			case errors.Is(err, io.EOF):
				return nil, core.Errorf(core.InvalidArgument, "Excluding the header (%d bytes) and footer (%d bytes), the input file has a body length which is not an exact multiple of the record length (%d bytes).", header, footer, length)
			case err != nil:
				return nil, err
			}
			skip = length
			return b[:length], nil
		}
	}))
	if err != nil {
		return nil, err
	}
	if compression == "" {
		d.check = func(name string, size int64) error {
			if body := size - header - footer; body >= 0 && body%length == 0 {
				return nil
			}
			return core.Errorf(core.InvalidArgument, "Excluding the header (%d bytes) and footer (%d bytes), input file \"%s\" has body length %d bytes, which is not an exact multiple of the record length (%d bytes).",
				header, footer, name, size-header-footer, length)
		}
	}
	return d, nil
}

// ofFiles returns the records of one file after the other.
func ofFiles(spec *Spec, names []string, compression string, f format) (*files, error) {
	switch compression {
	case "", "GZIP", "ZLIB":
	default:
		return nil, core.Errorf(core.InvalidArgument, "Unsupported compression_type. Got %q; it is \"\", \"GZIP\" or \"ZLIB\".", compression)
	}
	return &files{common: common{spec}, names: names, compression: compression, format: f}, nil
}

type files struct {
	common
	names       []string
	from        []int64 // where to begin in each file; nil: at the start
	compression string
	format      format
	check       func(name string, size int64) error // of a file; nil: any serves
	lenient     bool                                // an InvalidArgument concerns one element, not the file
}

func (d *files) Cardinality() int64 { return Unknown }

// readAhead is how many bytes are read at a time.
const readAhead = 1 << 18

func (d *files) Iterate() (Iterator, error) { return &fileIterator{d: d}, nil }

type fileIterator struct {
	d     *files
	at    int // which file
	given int64
	file  *os.File        // nil: not open
	ctx   context.Context // of the call of Next at hand
	next  func() (Element, error)
}

func (it *fileIterator) Next(ctx context.Context) (Element, error) {
	if ctx.Err() != nil {
		return nil, cancelled(ctx)
	}
	it.ctx = ctx
	for it.at < len(it.d.names) {
		e, err := it.read()
		if it.passes(err) {
			it.given++
			return e, err
		}
		it.Close()
		if ctx.Err() != nil && !errors.Is(err, io.EOF) {
			return nil, err // the next call opens the file again
		}
		it.at, it.given = it.at+1, 0
		if !errors.Is(err, io.EOF) {
			return nil, err
		}
	}
	return nil, End
}

// read returns the file's next record.
func (it *fileIterator) read() (Element, error) {
	name := it.d.names[it.at]
	if it.file == nil {
		if err := it.open(name); err != nil {
			return nil, err
		}
		for range it.given { // before a call that was cancelled
			if _, err := it.next(); !it.passes(err) {
				return nil, broken(name, err)
			}
		}
	}
	e, err := it.next()
	if err != nil && !errors.Is(err, io.EOF) && !it.passes(err) {
		return nil, broken(name, err)
	}
	return e, inFile(name, err)
}

// inFile says which file a record is from that is wrong but does not end the file.
func inFile(name string, err error) error {
	if e, ok := err.(*core.Error); ok && e.Plain != "" {
		named := *e
		named.Plain = name + ": " + e.Plain
		return &named
	}
	return err
}

// passes reports whether the file goes on after err.
func (it *fileIterator) passes(err error) bool {
	return err == nil || it.d.lenient && it.file != nil && core.CodeOf(err) == core.InvalidArgument
}

func (it *fileIterator) open(name string) error {
	f, err := core.OpenFile(it.ctx, core.LocalPath(name))
	if err != nil {
		return core.FileError(name, err)
	}
	it.file = f
	if it.d.check != nil {
		info, err := f.Stat()
		if err == nil {
			err = it.d.check(name, info.Size())
		}
		if err != nil {
			return err
		}
	}
	from, err := packed.Compression(it.d.compression).Unpack(bufio.NewReaderSize(it, readAhead))
	if err != nil {
		return broken(name, err)
	}
	body := bufio.NewReaderSize(from, readAhead) // the same one, of plain files
	if it.d.from != nil {
		if _, err := io.CopyN(io.Discard, body, it.d.from[it.at]); err != nil {
			return broken(name, err)
		}
	}
	it.next = it.d.format(body)
	return nil
}

// Read reads the file for the call at hand, until that is cancelled.
func (it *fileIterator) Read(p []byte) (int, error) {
	if it.ctx.Err() != nil {
		return 0, cancelled(it.ctx)
	}
	return it.file.Read(p)
}

// broken says which file's contents are not what they should be.
func broken(name string, err error) error {
	if core.Exhausted(err) {
		return &core.Error{Code: core.ResourceExhausted, Msg: err.Error() + " (in " + name + ")", Err: err}
	}
	if e := (*core.Error)(nil); errors.As(err, &e) {
		return &core.Error{Code: e.Code, Msg: e.Message() + " (in " + name + ")", Err: err}
	}
	return &core.Error{Code: core.DataLoss, Msg: err.Error() + " (in " + name + ")", Err: err}
}

func (it *fileIterator) Close() {
	if it.file != nil {
		_ = it.file.Close()
		it.file = nil
	}
}

func (it *fileIterator) Save(s *State) {
	s.PutInt("file", int64(it.at))
	s.PutInt("given", it.given)
}

// Restore passes over what has been given of the file.
func (it *fileIterator) Restore(ctx context.Context, s *State) {
	it.Close()
	it.ctx = ctx
	it.at, it.given = int(s.Count("file", int64(len(it.d.names)))), 0
	for n := s.Int("given"); it.given < n && s.Err() == nil; it.given++ {
		if it.at >= len(it.d.names) {
			s.Fail(errTooMany)
		} else if _, err := it.read(); !it.passes(err) {
			s.Fail(err)
		}
	}
}
