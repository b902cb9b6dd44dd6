//go:build !linux

package core

import (
	"context"
	"os"
	"syscall"
)

// openPipe opens a named pipe, which takes until it has a writer. When ctx ends, it opens
// the pipe for writing itself. Another reader that waits for the same pipe sees an empty
// file then.
func openPipe(ctx context.Context, path string) (*os.File, error) {
	defer context.AfterFunc(ctx, func() {
		if w, err := os.OpenFile(path, os.O_WRONLY|syscall.O_NONBLOCK, 0); err == nil {
			_ = w.Close()
		}
	})()
	return os.Open(path)
}
