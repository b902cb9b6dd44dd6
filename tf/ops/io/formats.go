package io

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"compress/zlib"
	"context"
	"errors"
	"io"
	"os"
	"strconv"
	"time"

	"github.com/gorge-tf/gorge/internal/wire/record"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

// once is the part of a format whose work is one record.
type once struct {
	work string
	done bool
}

func (o *once) open(_ context.Context, work string) error { o.work, o.done = work, false; return nil }
func (o *once) close()                                    { o.done = true }
func (o *once) hasState() bool                            { return true }
func (o *once) atEnd() bool                               { return o.done }

// identity gives out the work itself.
type identity struct{ once }

func (f *identity) next(context.Context) (key, value string, ok bool, err error) {
	ok, f.done = !f.done, true
	return f.work, f.work, ok, nil
}

// wholeFile gives out the contents of the file.
type wholeFile struct{ once }

func (f *wholeFile) next(ctx context.Context) (key, value string, ok bool, err error) {
	if f.done {
		return "", "", false, nil
	}
	text, err := core.ReadFile(ctx, f.work)
	if err != nil {
		return "", "", false, err
	}
	f.done = true
	return f.work, text, true, nil
}

// opened is the part of a format that keeps a file open.
type opened struct {
	name string
	file *os.File
	ctx  context.Context // of the step that reads at the moment
}

// Read reads the file for the step at hand, whose end is that of a wait for data. The
// file is then as it was.
func (o *opened) Read(p []byte) (int, error) {
	for o.ctx.Err() == nil {
		undo := core.EndReads(o.ctx, o.file)
		n, err := o.file.Read(p)
		undo()
		if n > 0 || !errors.Is(err, os.ErrDeadlineExceeded) {
			return n, err
		}
		_ = o.file.SetReadDeadline(time.Time{}) // of this step, or of an earlier one that set it late
	}
	return 0, context.Cause(o.ctx)
}

func (o *opened) hasState() bool { return false }

func (o *opened) close() {
	if o.file != nil {
		_ = o.file.Close()
		o.file = nil
	}
}

// openFile opens the file of a piece of work.
func (o *opened) openFile(ctx context.Context, name string) (*os.File, error) {
	o.close()
	f, err := core.OpenFile(ctx, core.LocalPath(name))
	if err != nil {
		return nil, core.FileError(name, err)
	}
	o.name, o.file, o.ctx = name, f, ctx
	return f, nil
}

// textLine gives out lines, without what ends them.
type textLine struct {
	opened
	skip  int
	lines *bufio.Reader
	line  int
	begun []byte // of a line that a step has not read to its end
}

func (f *textLine) open(ctx context.Context, work string) error {
	if _, err := f.openFile(ctx, work); err != nil {
		return err
	}
	f.lines, f.line, f.begun = bufio.NewReaderSize(f, 1<<16), 0, nil
	for range f.skip {
		if _, _, ok, err := f.next(ctx); !ok {
			return err
		}
	}
	return nil
}

func (f *textLine) next(ctx context.Context) (key, value string, ok bool, err error) {
	f.ctx = ctx
	line, err := core.ReadLine(f.lines)
	if f.begun != nil {
		line, f.begun = append(f.begun, line...), nil
	}
	if err != nil && !errors.Is(err, io.EOF) {
		f.begun = line
		return "", "", false, err
	}
	line = bytes.TrimSuffix(bytes.TrimSuffix(line, []byte("\n")), []byte("\r"))
	if err != nil && len(line) == 0 { // also after a last carriage return
		return "", "", false, nil
	}
	f.line++
	return f.name + ":" + strconv.Itoa(f.line), string(line), true, nil
}

// fixedLength gives out stretches of one length, hop bytes from each other.
type fixedLength struct {
	opened
	header, record, footer, hop int64
	compression                 string // as decompressed has it

	source io.ReaderAt
	at     int64
	limit  int64 // where the footer begins
	number int64
}

func (f *fixedLength) open(ctx context.Context, work string) error {
	file, err := f.openFile(ctx, work)
	if err != nil {
		return err
	}
	size, source, err := f.contents(file)
	if err != nil {
		return err
	}
	f.source, f.at, f.limit, f.number = source, f.header, size-f.footer, 0
	return nil
}

// contents gives access to the bytes of the file. Those of a compressed one are
// all taken into memory: its records may overlap.
func (f *fixedLength) contents(file *os.File) (int64, io.ReaderAt, error) {
	if f.compression == "" {
		info, err := file.Stat()
		if err != nil {
			return 0, nil, core.FileError(f.name, err)
		}
		return info.Size(), file, nil
	}
	z, err := decompressed(bufio.NewReader(f), f.compression)
	if err != nil {
		return 0, nil, badStream(f.name, err)
	}
	data, err := core.ReadAll(z)
	if err != nil {
		return 0, nil, badStream(f.name, err)
	}
	return int64(len(data)), bytes.NewReader(data), nil
}

func (f *fixedLength) next(ctx context.Context) (key, value string, ok bool, err error) {
	f.ctx = ctx
	if f.at >= f.limit || f.record > f.limit-f.at {
		return "", "", false, nil
	}
	data := core.Make[byte](int(f.record))
	switch n, err := f.source.ReadAt(data, f.at); {
	case err != nil && !errors.Is(err, io.EOF):
		return "", "", false, core.FileError(f.name, err)
	case n < len(data): // the file was longer when it was opened
		return "", "", false, badStream(f.name, io.ErrUnexpectedEOF)
	}
	key = f.name + ":" + strconv.FormatInt(f.number, 10)
	f.number++
	if f.at += f.record; f.hop > 0 {
		f.at += f.hop - f.record
	}
	return key, string(data), true, nil
}

// tfRecord gives out the records of a TFRecord file.
type tfRecord struct {
	opened
	compression string
	records     *record.Reader
	cut         bool // a step has ended within a record
}

func (f *tfRecord) open(ctx context.Context, work string) error { return f.openAt(ctx, work, 0) }

// openAt opens a file where a record begins.
func (f *tfRecord) openAt(ctx context.Context, work string, at int64) error {
	if _, err := f.openFile(ctx, work); err != nil {
		return err
	}
	stream, err := decompressed(bufio.NewReaderSize(f, 1<<16), f.compression)
	if err == nil {
		_, err = io.CopyN(io.Discard, stream, at)
	}
	if err != nil {
		return badStream(work, err)
	}
	f.records, f.cut = record.NewReaderAt(stream, at), false
	return nil
}

// resume goes back to where the record begins that a step has not read to its end.
func (f *tfRecord) resume(ctx context.Context) error {
	if core.IsPipe(core.LocalPath(f.name)) {
		return badStream(f.name, errCut)
	}
	return f.openAt(ctx, f.name, f.records.Offset())
}

var errCut = errors.New("a step has ended within a record of a pipe, whose rest cannot be told from others")

// decompressed undoes a compression that [checkCompression] has let pass. The
// format's errors about what is no such stream come from its header, at once.
func decompressed(r io.Reader, compression string) (io.Reader, error) {
	switch compression {
	case "GZIP":
		return gzip.NewReader(r)
	case "ZLIB":
		return zlib.NewReader(r)
	}
	return r, nil
}

func (f *tfRecord) next(ctx context.Context) (key, value string, ok bool, err error) {
	f.ctx = ctx
	if f.cut {
		if err := f.resume(ctx); err != nil {
			return "", "", false, err
		}
	}
	at := f.records.Offset()
	data, err := f.records.Next()
	switch {
	case errors.Is(err, io.EOF):
		return "", "", false, nil
	case err != nil && ctx.Err() != nil:
		f.cut = true
		return "", "", false, stepOver(ctx)
	case err != nil:
		return "", "", false, badStream(f.name, err)
	}
	return f.name + ":" + strconv.FormatInt(at, 10), string(data), true, nil
}

// badStream says what is wrong with the contents of a file, and which.
func badStream(name string, err error) error {
	code := tf.DataLoss
	if core.Exhausted(err) {
		code = tf.ResourceExhausted
	}
	return &tf.Error{Code: code, Msg: err.Error() + " (in " + name + ")", Err: err}
}
