package bundle

import (
	"os"
	"syscall"
)

// writeRange is SYNC_FILE_RANGE_WRITE: write what is dirty, and do not wait.
const writeRange = 2

// beginWriteback asks the system to put a stretch of a file on the disk. File systems
// that cannot do so refuse, and Sync does all of it. A write that fails is what Sync
// reports.
func beginWriteback(f *os.File, offset, size int64) {
	_ = syscall.SyncFileRange(int(f.Fd()), offset, size, writeRange)
}
