package core

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"io/fs"
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
	f, err := openFile(ctx, LocalPath(name))
	if err != nil {
		return "", readError(ctx, name, err)
	}
	defer f.Close() // of a file that is only read
	defer context.AfterFunc(ctx, func() { _ = f.SetReadDeadline(time.Unix(1, 0)) })()
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

// openFile opens a file. A pipe is not open before it has a writer: should
// ctx end before, that is done here.
func openFile(ctx context.Context, path string) (*os.File, error) {
	if info, err := os.Stat(path); err != nil || info.Mode()&fs.ModeNamedPipe == 0 || ctx.Done() == nil {
		return os.Open(path)
	}
	defer context.AfterFunc(ctx, func() {
		if w, err := os.OpenFile(path, os.O_WRONLY|syscall.O_NONBLOCK, 0); err == nil {
			_ = w.Close()
		}
	})()
	return os.Open(path)
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
