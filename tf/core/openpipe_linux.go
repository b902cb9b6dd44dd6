package core

import (
	"context"
	"os"

	"golang.org/x/sys/unix"
)

// openPipe opens a named pipe and waits for its first writer, or for the end of ctx. It
// opens without blocking, so it neither holds a thread nor needs a writer of its own to
// be woken, which other readers of the pipe would take for an empty file.
func openPipe(ctx context.Context, path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|unix.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer EndReads(ctx, f)()
	if err = untilWritten(f); err != nil {
		_ = f.Close()
		return nil, err
	}
	return f, nil
}

// untilWritten waits until the pipe holds data or its writers have come and gone. Until
// the first writer comes, Linux reports neither, though reads return 0 bytes, as they do
// at the end of data (pipe(7), poll(2)).
func untilWritten(f *os.File) error {
	raw, err := f.SyscallConn()
	if err != nil {
		return err
	}
	var failed error
	err = raw.Read(func(fd uintptr) (done bool) {
		poll := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}
		for _, failed = unix.Poll(poll, 0); failed == unix.EINTR; {
			_, failed = unix.Poll(poll, 0)
		}
		return failed != nil || poll[0].Revents != 0
	})
	if err == nil {
		err = failed
	}
	return err
}
