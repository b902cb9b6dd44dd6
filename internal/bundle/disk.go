package bundle

import (
	"io"
	"io/fs"
	"os"
	"syscall"
)

// A disk is what writers need of a file system. Tests put one in its place that
// fails.
type disk interface {
	create(name string) (diskFile, error) // of a file that must not exist
	rename(from, to string) error
	// link gives a file a second name, which must not be taken.
	link(from, to string) error
	remove(name string) error
	syncDir(name string)
}

// A diskFile is a file that is being written.
type diskFile interface {
	io.Writer
	// Sync makes what was written outlive a crash of the machine.
	Sync() error
	Close() error
}

// storage is the disk in use.
var storage disk = osDisk{}

type osDisk struct{}

// create makes a file and locks it. The lock tells other writers that the file's
// writer is alive, so they do not remove the file as a dead writer's.
func (osDisk) create(name string) (diskFile, error) {
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return nil, err
	}
	if !lock(f) {
		_ = f.Close()
		_ = os.Remove(name)
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrExist}
	}
	return &osFile{File: f}, nil
}

// writeback is how many bytes are written before the system is asked to put them on
// the disk. It does so while the next ones are written, so that Sync has little left to
// wait for.
const writeback = 8 << 20

// An osFile is a file whose bytes go to the disk while it is being written.
type osFile struct {
	*os.File
	written, begun int64 // bytes written, bytes that are on their way to the disk
}

// Write appends b.
func (f *osFile) Write(b []byte) (int, error) {
	n, err := f.File.Write(b)
	f.written += int64(n)
	if ready := f.written - f.begun; ready >= writeback {
		beginWriteback(f.File, f.begun, ready)
		f.begun = f.written
	}
	return n, err
}

func (osDisk) rename(from, to string) error { return os.Rename(from, to) }

func (osDisk) link(from, to string) error { return os.Link(from, to) }

func (osDisk) remove(name string) error { return os.Remove(name) }

// syncDir makes the names in a directory outlive a crash of the machine, where the
// system can do that.
func (osDisk) syncDir(name string) {
	if d, err := openNow(name); err == nil {
		_ = d.Sync()
		_ = d.Close()
	}
}

// openNow opens what may be anything but a file, such as a pipe, for which os.Open waits.
func openNow(name string) (*os.File, error) {
	return os.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
}
