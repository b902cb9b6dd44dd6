//go:build !linux

package memory

import (
	"io/fs"
	"os"
)

// Other systems have no control groups, and limits that mean something else.
func systemRoot() fs.FS { return os.DirFS("/") }

func resourceLimit() int64 { return unlimited }
