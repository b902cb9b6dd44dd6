package bundle

import (
	"os"

	"github.com/gorge-tf/gorge/internal/wire/record"
	"github.com/gorge-tf/gorge/tf/core"
)

// outputBuffer is small enough that checksums find their bytes in the cache.
const outputBuffer = 1 << 18

// An output is a file that gets its name when it is complete.
type output struct {
	name, temp string
	file       *os.File // nil once it is done with
	buf        []byte
	at         int64
}

func createOutput(name string) (*output, error) {
	o := &output{name: name, temp: temporary(name), buf: make([]byte, 0, outputBuffer)}
	f, err := os.OpenFile(o.temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return nil, core.FileError(o.temp, err)
	}
	o.file = f
	return o, nil
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
	_, err := o.file.Write(o.buf)
	o.buf = o.buf[:0]
	if err != nil {
		return core.FileError(o.temp, err)
	}
	return nil
}

// commit completes the file and gives it its name.
func (o *output) commit() error {
	if o.file == nil {
		return core.Errorf(core.FailedPrecondition, "%s has been written", o.name)
	}
	if err := o.flush(); err != nil {
		return err
	}
	if err := o.file.Close(); err != nil {
		return core.FileError(o.temp, err)
	}
	o.file = nil
	if err := os.Rename(o.temp, o.name); err != nil {
		return core.FileError(o.name, err)
	}
	return nil
}

// abort removes the file if it is not complete.
func (o *output) abort() {
	if o.file != nil {
		_ = o.file.Close()
		_ = os.Remove(o.temp)
		o.file = nil
	}
}
