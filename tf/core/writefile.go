package core

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"syscall"
	"time"
)

// WriteFile makes contents what the file of a path holds. It stops when ctx ends, also
// where it waits for the reader of a pipe.
func WriteFile(ctx context.Context, path, contents string) error {
	f, err := CreateFile(ctx, path, os.O_TRUNC)
	if err != nil {
		return writeError(ctx, path, err)
	}
	return WriteAndClose(ctx, f, contents)
}

// WriteAndClose writes the last text of a file. It stops when ctx ends, also where it
// waits for the reader of a pipe.
func WriteAndClose(ctx context.Context, f *os.File, text string) error {
	undo := EndWrites(ctx, f)
	_, err := f.WriteString(text)
	undo()
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		return writeError(ctx, f.Name(), err)
	}
	return nil
}

// writeError is FileError for what may also be the end of ctx.
func writeError(ctx context.Context, path string, err error) error {
	if ctx.Err() != nil {
		return &Error{Code: Canceled, Msg: "the step is over: " + path + " is not written any further", Err: context.Cause(ctx), Derived: true}
	}
	return FileError(path, err)
}

// EndWrites makes writes to f fail that wait, as those to a pipe do, when ctx ends. What
// it returns undoes that.
func EndWrites(ctx context.Context, f *os.File) (undo func() bool) {
	return context.AfterFunc(ctx, func() { _ = f.SetWriteDeadline(time.Unix(1, 0)) }) // fails for files that never wait
}

// IsPipe reports whether a path is that of a named pipe, which waits for its other side.
func IsPipe(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode()&fs.ModeNamedPipe != 0
}

// How often a pipe without a reader is tried again.
const (
	firstTry = time.Millisecond
	laterTry = 50 * time.Millisecond
)

// CreateFile opens the file of a path for writing, and makes it if need be; how is
// os.O_TRUNC, os.O_APPEND or 0. A pipe is not open before it has a reader: should ctx end
// before, that is an error. The wait holds no thread: a pipe that is opened without
// blocking fails with ENXIO until it has a reader, and no event tells of that one.
func CreateFile(ctx context.Context, path string, how int) (*os.File, error) {
	for wait := firstTry; ; wait = min(2*wait, laterTry) {
		f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|syscall.O_NONBLOCK|how, 0o644)
		if !errors.Is(err, syscall.ENXIO) || !IsPipe(path) {
			return f, err
		}
		if err := sleep(ctx, wait); err != nil {
			return nil, err
		}
	}
}

// sleep waits for d, or for the end of ctx, which is an error.
func sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
