package record

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/gorge-tf/gorge/internal/memory"
	"github.com/gorge-tf/gorge/internal/wire/record"
	"github.com/gorge-tf/gorge/tf/core"
)

// An Index knows where the records of a plain file lie, so that they can be read
// in any order, see [OpenIndexed], and by several goroutines, see [Parallel]. It
// does not change.
type Index struct {
	starts []int64 // of the records, and where the last one ends
}

// BuildIndex looks where the records of a plain file lie, which must be a regular one.
// Their data is not checked before it is read.
func BuildIndex(name string, opts ...Option) (*Index, error) {
	f, _, err := core.OpenRegular(core.LocalPath(name))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	r := reader(bufio.NewReaderSize(f, 1<<16), opts)
	x := &Index{starts: []int64{0}}
	for {
		if _, err := r.Skip(); errors.Is(err, io.EOF) {
			return x, nil
		} else if err != nil {
			return nil, damaged(err, x.Len(), r.Offset(), name)
		}
		x.starts = append(x.starts, r.Offset())
	}
}

// damaged says which record of a file is broken, and where.
func damaged(err error, n int, offset int64, name string) error {
	return &core.Error{Code: codeOf(err), Msg: fmt.Sprintf("%v (record %d at offset %d of %s)", err, n, offset, name), Err: err}
}

// codeOf returns the code of what went wrong with the contents of a file. A file that does
// not fit into memory, or that cannot be read, as a directory cannot, has no damage.
func codeOf(err error) core.Code {
	if core.Exhausted(err) {
		return core.ResourceExhausted
	}
	var system *fs.PathError
	if errors.As(err, &system) {
		if code := core.CodeOf(core.FileError(system.Path, err)); code != core.Unknown {
			return code
		}
	}
	return core.DataLoss
}

// Len returns the number of records.
func (x *Index) Len() int { return len(x.starts) - 1 }

// At returns where record i lies, and how many bytes of the file it takes, 16 at least. Both
// are 0 if there is no such record.
func (x *Index) At(i int) (offset, size int64) {
	if i < 0 || i >= x.Len() {
		return 0, 0
	}
	return x.starts[i], x.starts[i+1] - x.starts[i]
}

// Save writes the index to a file: a line with offset and size for each record,
// as other programs have it for TFRecord files.
func (x *Index) Save(name string) error {
	f, err := core.CreateFile(context.Background(), core.LocalPath(name), os.O_TRUNC)
	if err != nil {
		return core.FileError(name, err)
	}
	w := bufio.NewWriter(f)
	for i, offset := range x.starts[:x.Len()] {
		fmt.Fprintln(w, offset, x.starts[i+1]-offset) // the writer keeps its error for Flush
	}
	if err := cmp.Or(w.Flush(), f.Close()); err != nil {
		return core.FileError(name, err)
	}
	return nil
}

// LoadIndex reads an index that was saved. The records must lie one after the
// other.
func LoadIndex(name string) (*Index, error) {
	f, err := core.OpenFile(context.Background(), core.LocalPath(name))
	if err != nil {
		return nil, core.FileError(name, err)
	}
	defer f.Close()
	x := &Index{starts: []int64{0}}
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		end, err := entry(lines.Text(), x.starts[x.Len()])
		if err != nil {
			return nil, core.Errorf(core.DataLoss, "%s, line %d: %v", name, x.Len()+1, err)
		}
		x.starts = append(x.starts, end)
	}
	if err := lines.Err(); err != nil {
		return nil, core.Errorf(core.DataLoss, "%s: %v", name, err)
	}
	return x, nil
}

// entry reads the line of a record that lies at start, and returns where it ends.
func entry(line string, start int64) (int64, error) {
	var offset, size int64
	if n, err := fmt.Sscanf(line, "%d %d\n", &offset, &size); err != nil || n != 2 {
		return 0, fmt.Errorf("a line of an index must be an offset and a size, got %q", line)
	}
	if offset != start || size < record.Size(0) || start+size < start {
		return 0, fmt.Errorf("a record must begin at %d and take at least %d bytes, got %q", start, record.Size(0), line)
	}
	return offset + size, nil
}

// An IndexedReader reads records of a plain file by their numbers. It may be used
// from several goroutines at once.
type IndexedReader struct {
	name  string
	file  *os.File
	size  int64 // of the file, so that no memory is taken for what an index promises
	index *Index
}

// OpenIndexed opens a file with its index.
func OpenIndexed(name string, x *Index) (*IndexedReader, error) {
	if x == nil {
		return nil, core.Errorf(core.InvalidArgument, "%s: an indexed reader needs an index, got nil", name)
	}
	f, size, err := core.OpenRegular(core.LocalPath(name))
	if err != nil {
		return nil, err
	}
	return &IndexedReader{name, f, size, x}, nil
}

// Len returns the number of records.
func (r *IndexedReader) Len() int { return r.index.Len() }

// Read returns record i. It lies in buf, or, if that is too small, in memory of
// its own. An error says which record is broken, and where.
func (r *IndexedReader) Read(i int, buf []byte) ([]byte, error) {
	offset, size := r.index.At(i)
	if size == 0 {
		return nil, core.Errorf(core.OutOfRange, "%s has %d records, there is none with number %d", r.name, r.Len(), i)
	}
	b, err := r.bytes(offset, size, buf)
	if err == nil {
		b, err = record.Open(b, offset)
	}
	if err != nil {
		return nil, damaged(err, i, offset, r.name)
	}
	return b, nil
}

// bytes reads a part of the file.
func (r *IndexedReader) bytes(offset, size int64, buf []byte) ([]byte, error) {
	if offset+size > r.size {
		return nil, fmt.Errorf("truncated record at %d' failed with Read less bytes than requested", offset)
	}
	b, err := memory.Grow(buf[:0], int(size)) // a file with holes may be larger than all memory
	if err != nil {
		return nil, err
	}
	b = b[:size]
	_, err = r.file.ReadAt(b, offset)
	return b, err
}

// Close closes the file.
func (r *IndexedReader) Close() error { return r.file.Close() }
