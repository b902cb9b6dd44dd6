package bundle

import (
	"io"

	"github.com/gorge-tf/gorge/tf/core"
)

// A file that Git LFS keeps elsewhere is, until it is fetched, a small text in its place.
const (
	pointerHead = "version https://git-lfs.github.com/spec/"
	pointerSize = 1024 // pointers are smaller
)

// NotPointer fails if a file is a pointer of Git LFS: its own contents have not been
// fetched.
func NotPointer(f io.ReaderAt, size int64, name string) error {
	if size < int64(len(pointerHead)) || size > pointerSize {
		return nil
	}
	head := make([]byte, len(pointerHead))
	if n, _ := f.ReadAt(head, 0); n < len(head) || string(head) != pointerHead {
		return nil
	}
	return core.Errorf(core.DataLoss, "%s must have its own contents, it is a pointer of Git LFS: git lfs pull fetches them", name)
}
