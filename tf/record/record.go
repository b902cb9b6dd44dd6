// Package record reads and writes TFRecord files: the container of training
// examples, plain or compressed.
package record

import (
	"bufio"
	"cmp"
	"compress/gzip"
	"compress/zlib"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/gorge-tf/gorge/internal/wire/record"
	"github.com/gorge-tf/gorge/internal/wire/snappy"
	"github.com/gorge-tf/gorge/tf/core"
)

// A Compression is how a file is compressed as a whole, in TensorFlow's names.
type Compression string

// The compressions that there are.
const (
	None   Compression = ""
	GZIP   Compression = "GZIP"
	ZLIB   Compression = "ZLIB"
	SNAPPY Compression = "SNAPPY" // in blocks, as TensorFlow's snapshots have it
)

func (c Compression) check() error {
	switch c {
	case None, GZIP, ZLIB, SNAPPY:
		return nil
	}
	return core.Errorf(core.InvalidArgument, "Unsupported compression_type: %s. Valid types are \"\", \"GZIP\", \"ZLIB\" and \"SNAPPY\"", string(c))
}

// A Writer writes a file of records. It is for one goroutine at a time.
type Writer struct {
	name    string
	file    *os.File
	undo    func() bool // of what ends writes that wait
	buffer  *bufio.Writer
	packer  io.WriteCloser // nil: none
	records *record.Writer
	closed  bool
}

// Create makes a file, or empties one that is there. A named pipe is open when it has a
// reader.
func Create(name string, c Compression) (*Writer, error) {
	return CreateContext(context.Background(), name, c)
}

// CreateContext is [Create] whose wait for the reader of a named pipe ends with ctx, as do
// writes that wait.
func CreateContext(ctx context.Context, name string, c Compression) (*Writer, error) {
	if err := core.NeedContext(ctx, "CreateContext"); err != nil {
		return nil, err
	}
	if err := c.check(); err != nil {
		return nil, err
	}
	f, err := core.CreateFile(ctx, core.LocalPath(name), os.O_TRUNC)
	if err != nil {
		return nil, core.FileError(name, err)
	}
	w := &Writer{name: name, file: f, undo: core.EndWrites(ctx, f), buffer: bufio.NewWriterSize(f, 1<<16)}
	var to io.Writer = w.buffer
	switch c {
	case GZIP:
		w.packer = gzip.NewWriter(to)
	case ZLIB:
		w.packer = zlib.NewWriter(to)
	case SNAPPY:
		w.packer = snappy.NewWriter(to)
	}
	if w.packer != nil {
		to = w.packer
	}
	w.records = record.NewWriter(to)
	return w, nil
}

// Write appends one record. RESOURCE_EXHAUSTED says that the disk has no room.
func (w *Writer) Write(data []byte) error {
	if w.closed { // the buffer would take the record, and nothing after it
		return core.Errorf(core.FailedPrecondition, "Writer is closed: %s", w.name)
	}
	return w.named(w.records.Write(data))
}

// named gives an error of the file the file's name.
func (w *Writer) named(err error) error {
	if err == nil || core.CodeOf(err) != core.Unknown {
		return err
	}
	return core.FileError(w.name, err)
}

// Size returns how many bytes the file has, and puts all there that has been
// written.
func (w *Writer) Size() (int64, error) {
	var err error
	if f, ok := w.packer.(interface{ Flush() error }); ok {
		err = f.Flush()
	}
	if err = cmp.Or(err, w.buffer.Flush()); err != nil {
		return 0, w.named(err)
	}
	info, err := w.file.Stat()
	if err != nil {
		return 0, w.named(err)
	}
	return info.Size(), nil
}

// Close completes the file.
func (w *Writer) Close() error {
	w.closed = true
	var err error
	if w.packer != nil {
		err = w.packer.Close()
	}
	err = cmp.Or(err, w.buffer.Flush())
	w.undo()
	return w.named(cmp.Or(err, w.file.Close()))
}

// An Option says how files are read.
type Option uint8

// Unfinished reads files that are still being written: a record whose header is
// cut short, or a compressed stream that is, ends a file. TensorFlow takes that for
// the end of any file; without the option it is an error here.
const Unfinished Option = 1

// A Reader reads a file of records. It is for one goroutine at a time.
type Reader struct {
	name    string
	file    *os.File
	waits   *waits
	records *record.Reader
	count   int
}

// waits are reads that end with a context, until undo is called. A Reader has a pointer to them: programs may
// compare Readers.
type waits struct{ undo func() bool }

// Open opens a file. A named pipe is open when it has a writer.
func Open(name string, c Compression, opts ...Option) (*Reader, error) {
	return OpenAt(name, c, 0, opts...)
}

// OpenAt opens a file at a place in its uncompressed bytes where a record begins,
// see [Reader.Offset].
func OpenAt(name string, c Compression, offset int64, opts ...Option) (*Reader, error) {
	return openAt(context.Background(), name, c, offset, opts)
}

// openAt is OpenAt whose waits, also those of the reader, end with ctx.
func openAt(ctx context.Context, name string, c Compression, offset int64, opts []Option) (*Reader, error) {
	if err := c.check(); err != nil {
		return nil, err
	}
	if offset < 0 {
		return nil, core.Errorf(core.InvalidArgument, "%s: an offset must not be negative, got %d", name, offset)
	}
	f, err := core.OpenFile(ctx, core.LocalPath(name))
	if err != nil {
		return nil, core.FileError(name, err)
	}
	r := &Reader{name: name, file: f, waits: &waits{core.EndReads(ctx, f)}}
	from, err := c.Unpack(bufio.NewReaderSize(f, 1<<16))
	if slices.Contains(opts, Unfinished) && offset == 0 && (errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)) {
		from, err = strings.NewReader(""), nil // the writer has not got beyond the stream's head
	}
	if err == nil && offset > 0 {
		_, err = io.CopyN(io.Discard, from, offset)
	}
	if err != nil {
		_ = r.Close()
		return nil, &core.Error{Code: codeOf(err), Msg: fmt.Sprintf("%s: no %s stream that goes to offset %d: %v", name, c, offset, err), Err: err}
	}
	r.records = reader(from, opts)
	return r, nil
}

// reader returns what reads the records of a stream.
func reader(from io.Reader, opts []Option) *record.Reader {
	r := record.NewReader(from)
	if slices.Contains(opts, Unfinished) {
		r.Unfinished()
	}
	return r
}

// Unpack returns what r holds in compressed form.
func (c Compression) Unpack(r *bufio.Reader) (io.Reader, error) {
	switch c {
	case GZIP:
		return gzip.NewReader(r)
	case ZLIB:
		return zlib.NewReader(r)
	case SNAPPY:
		return snappy.NewReader(r), nil
	}
	return r, nil
}

// Offset returns how far the records go that were read, in uncompressed bytes
// from where the file was opened.
func (r *Reader) Offset() int64 { return r.records.Offset() }

// Next returns the next record, which stays valid until the next call, or io.EOF
// after the last one. An error says which record is broken, and where.
func (r *Reader) Next() ([]byte, error) {
	b, err := r.records.Next()
	if err == nil {
		r.count++
		return b, nil
	}
	if errors.Is(err, io.EOF) {
		return nil, io.EOF
	}
	return nil, damaged(err, r.count, r.Offset(), r.name)
}

// Close closes the file.
func (r *Reader) Close() error {
	r.waits.undo()
	return r.file.Close()
}
