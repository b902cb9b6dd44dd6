package bundle

import (
	"errors"
	"io/fs"
	"path/filepath"

	"github.com/gorge-tf/gorge/internal/wire/record"
	"github.com/gorge-tf/gorge/tf/core"
)

// outputBuffer is small enough that checksums find their bytes in the cache.
const outputBuffer = 1 << 18

// An output is a file that gets its name when it is complete.
type output struct {
	name, temp string
	file       diskFile // nil once it is done with
	closed     bool     // the file is, ahead of its rename
	buf        []byte
	at         int64
}

func createOutput(name string) (*output, error) {
	o := &output{name: name, buf: make([]byte, 0, outputBuffer)}
	for {
		o.temp = temporary(name)
		f, err := storage.create(o.temp)
		if errors.Is(err, fs.ErrExist) {
			continue // taken, or swept before it was marked
		}
		if err != nil {
			return nil, core.FileError(o.temp, err)
		}
		o.file = f
		return o, nil
	}
}

// write appends b and returns the checksum extended by it. The checksum is that
// of the bytes that are written, even while others change b.
func (o *output) write(crc uint32, b []byte) (uint32, error) {
	for len(b) > 0 {
		if len(o.buf) == cap(o.buf) {
			if err := o.flush(); err != nil {
				return crc, err
			}
		}
		free := o.buf[len(o.buf):cap(o.buf)]
		n := copy(free, b)
		crc = record.ExtendCRC(crc, free[:n])
		o.buf, b = o.buf[:len(o.buf)+n], b[n:]
		o.at += int64(n)
	}
	return crc, nil
}

// Write makes an output an io.Writer.
func (o *output) Write(b []byte) (int, error) {
	_, err := o.write(0, b)
	return len(b), err
}

func (o *output) flush() error {
	if len(o.buf) == 0 {
		return nil
	}
	_, err := o.file.Write(o.buf)
	o.buf = o.buf[:0]
	if err != nil {
		return core.FileError(o.temp, err)
	}
	return nil
}

// commit completes the file and gives it its name, in place of a file that has
// it. What it holds is on the disk before it has the name, and the name is
// before commit returns.
func (o *output) commit() error {
	if err := o.complete(); err != nil {
		return err
	}
	if err := storage.rename(o.temp, o.name); err != nil {
		return core.FileError(o.name, err)
	}
	o.settle()
	return nil
}

// claim is commit to a name that must not be taken: fs.ErrExist says that it is. The
// file stays marked as one that is being written until settle.
func (o *output) claim(name string) error {
	if err := o.complete(); err != nil {
		return err
	}
	if err := claim(o.temp, name); err != nil {
		return err
	}
	o.name = name
	storage.syncDir(filepath.Dir(name))
	return nil
}

// claim gives a file another name, which must not be taken.
func claim(from, to string) error {
	err := storage.link(from, to)
	switch {
	case err == nil:
		return storage.remove(from)
	case errors.Is(err, fs.ErrExist):
		return err
	}
	return storage.rename(from, to) // there are file systems without links
}

// complete puts all that was written on the disk.
func (o *output) complete() error {
	if o.file == nil {
		return core.Errorf(core.FailedPrecondition, "%s has been written", o.name)
	}
	if err := o.flush(); err != nil {
		return err
	}
	if o.closed {
		return nil
	}
	if err := o.file.Sync(); err != nil {
		return core.FileError(o.temp, err)
	}
	if locks {
		return nil
	}
	o.closed = true
	if err := o.file.Close(); err != nil {
		return core.FileError(o.temp, err)
	}
	return nil
}

// settle ends the work on a file that has its name.
func (o *output) settle() {
	if o.file != nil && !o.closed {
		_ = o.file.Close() // it has been synchronized
	}
	o.file = nil
	storage.syncDir(filepath.Dir(o.name))
}

// abort removes the file if it is not complete.
func (o *output) abort() {
	if o.file == nil {
		return
	}
	if !o.closed {
		_ = o.file.Close()
	}
	_ = storage.remove(o.temp)
	o.file = nil
}

// WriteFile makes data the content of a file in one step: readers see the old
// content or the new one, also after a crash.
func WriteFile(name string, data []byte) error {
	o, err := createOutput(core.LocalPath(name))
	if err != nil {
		return err
	}
	defer o.abort()
	if _, err := o.Write(data); err != nil {
		return err
	}
	return o.commit()
}
