package core

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"os"
	"syscall"
	"time"
	"unsafe"

	"github.com/gorge-tf/gorge/internal/memory"
)

// ReadFile returns the contents of the file that a node names, within the memory
// limit: RESOURCE_EXHAUSTED stands for what is too large or has no end. It stops
// when ctx ends, also where it waits for data, as that of a pipe.
func ReadFile(ctx context.Context, name string) (string, error) {
	f, err := OpenFile(ctx, LocalPath(name))
	if err != nil {
		return "", readError(ctx, name, err)
	}
	defer f.Close() // of a file that is only read
	defer EndReads(ctx, f)()
	size := 0
	if info, err := f.Stat(); err == nil && info.Mode().IsRegular() {
		size = int(info.Size())
	}
	b, err := memory.ReadAll(interruptible{ctx, f}, size)
	if err != nil {
		return "", readError(ctx, name, err)
	}
	return unsafe.String(unsafe.SliceData(b), len(b)), nil // there is no other reference to b
}

// readError is FileError for what may also be the end of ctx or of memory.
func readError(ctx context.Context, name string, err error) error {
	switch {
	case ctx.Err() != nil:
		return &Error{Code: Canceled, Msg: "the step is over: " + name + " is not read any further", Err: context.Cause(ctx), Derived: true}
	case Exhausted(err):
		return &Error{Code: ResourceExhausted, Msg: name + " must fit into memory; " + err.Error(), Err: err}
	}
	return FileError(name, err)
}

// EndReads makes reads of f fail that wait, as those of a pipe do, when ctx ends. What it
// returns undoes that.
func EndReads(ctx context.Context, f *os.File) (undo func() bool) {
	return context.AfterFunc(ctx, func() { _ = f.SetReadDeadline(time.Unix(1, 0)) }) // fails for files that never wait
}

// OpenFile opens the file of a path, to be read from its beginning to its end. A pipe is
// not open before it has a writer: should ctx end before, that is an error. Other means
// of opening one hold a thread for as long.
func OpenFile(ctx context.Context, path string) (*os.File, error) {
	if !IsPipe(path) {
		return os.Open(path)
	}
	f, err := openPipe(ctx, path)
	if ctx.Err() == nil {
		return f, err
	}
	if err == nil {
		_ = f.Close()
	}
	return nil, context.Cause(ctx)
}

// OpenRegular opens the file of a path for reading, if it is a regular one, and returns
// its size. Other files are refused with FAILED_PRECONDITION: a pipe has no places that
// could be read, and opening one may wait for ever. Errors name the file.
func OpenRegular(path string) (f *os.File, size int64, err error) {
	if f, err = os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0); err != nil {
		return nil, 0, FileError(path, err)
	}
	info, err := f.Stat()
	if err != nil {
		err = FileError(path, err)
	} else if kind := info.Mode().Type(); kind != 0 {
		err = Errorf(FailedPrecondition, "%s; must be a regular file, its mode is %v", path, kind)
	}
	if err != nil {
		_ = f.Close()
		return nil, 0, err
	}
	return f, info.Size(), nil
}

// ReadRegular returns what a regular file holds, within the memory limit. Other files are
// refused as OpenRegular does.
func ReadRegular(path string) ([]byte, error) {
	f, size, err := OpenRegular(path)
	if err != nil {
		return nil, err
	}
	defer f.Close() // of a file that is only read
	b, err := memory.ReadAll(f, int(size))
	if err != nil {
		return nil, readError(context.Background(), path, err)
	}
	return b, nil
}

type interruptible struct {
	ctx context.Context
	r   io.Reader
}

func (i interruptible) Read(p []byte) (int, error) {
	if i.ctx.Err() != nil {
		return 0, context.Cause(i.ctx)
	}
	return i.r.Read(p)
}

// ReadAll is io.ReadAll within the memory limit.
func ReadAll(r io.Reader) ([]byte, error) { return memory.ReadAll(r, 0) }

// CopyTo writes all of r to b within the memory limit.
func CopyTo(b *bytes.Buffer, r io.Reader) error {
	for {
		if b.Available() == 0 {
			n := max(b.Cap(), bytes.MinRead)
			if err := memory.TryRoom(2 * n); err != nil {
				return err
			}
			b.Grow(n)
		}
		n, err := r.Read(b.AvailableBuffer()[:b.Available()])
		b.Write(b.AvailableBuffer()[:n]) // it lies there already
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// ReadLine is r.ReadBytes('\n') within the memory limit.
func ReadLine(r *bufio.Reader) ([]byte, error) { return memory.ReadLine(r) }
