package npy

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/gorge-tf/gorge/tf"
)

// WriteArchive writes tensors by name as numpy's savez does, or, compressed, as
// savez_compressed.
func WriteArchive(w io.Writer, tensors map[string]*tf.Tensor, compress bool) error {
	if w == nil {
		return tf.Errorf(tf.InvalidArgument, "an npz file is written to a writer, got nil")
	}
	z := zip.NewWriter(w)
	method := zip.Store
	if compress {
		method = zip.Deflate
	}
	for _, name := range slices.Sorted(maps.Keys(tensors)) {
		f, err := z.CreateHeader(&zip.FileHeader{Name: name + ".npy", Method: method})
		if err != nil {
			return err
		}
		if err := Write(f, tensors[name]); err != nil {
			return named(name, err)
		}
	}
	return z.Close()
}

// ReadArchive reads the tensors of an archive of size bytes that numpy's savez or
// savez_compressed has written. Each entry is read to its end, where its checksum
// shows what has changed.
func ReadArchive(r io.ReaderAt, size int64) (map[string]*tf.Tensor, error) {
	if r == nil {
		return nil, tf.Errorf(tf.InvalidArgument, "an npz file is read from a reader, got nil")
	}
	z, err := zip.NewReader(r, size)
	if err != nil {
		return nil, tf.Errorf(tf.InvalidArgument, "an npz file must be a zip archive: %v", err)
	}
	out := map[string]*tf.Tensor{}
	for _, f := range z.File {
		name, ok := strings.CutSuffix(f.Name, ".npy")
		if !ok {
			return nil, tf.Errorf(tf.InvalidArgument, "an npz file must hold npy files, got %q", f.Name)
		}
		if out[name] != nil {
			return nil, tf.Errorf(tf.DataLoss, "the entries of an npz file must have different names, %s comes twice", name)
		}
		if out[name], err = readEntry(r, f); err != nil {
			return nil, named(name, err)
		}
	}
	return out, nil
}

func readEntry(archive io.ReaderAt, f *zip.File) (*tf.Tensor, error) {
	if err := checkName(archive, f); err != nil {
		return nil, err
	}
	r, err := f.Open()
	if err != nil {
		return nil, tf.Errorf(tf.DataLoss, "%v", err)
	}
	defer r.Close()
	t, err := Read(r)
	if err != nil {
		return nil, err
	}
	switch n, err := io.Copy(io.Discard, r); {
	case err != nil:
		return nil, tf.Errorf(tf.DataLoss, "an entry of an npz file must be as it was written: %v", err)
	case n > 0:
		return nil, tf.Errorf(tf.DataLoss, "an entry of an npz file must end with its array's data, %d bytes follow", n)
	}
	return t, nil
}

// The header that stands before an entry's data: its beginning, its length
// without name and extra field, and the most that there is of both.
const (
	localMagic  = "PK\x03\x04"
	localHeader = 30
	mostLocal   = localHeader + 2*(1<<16-1)
)

// checkName compares the name that stands before an entry's data with that of
// the archive's directory. No checksum covers either.
func checkName(archive io.ReaderAt, f *zip.File) error {
	end, err := f.DataOffset()
	if err != nil {
		return tf.Errorf(tf.DataLoss, "%v", err)
	}
	b := make([]byte, min(end, mostLocal))
	if _, err := archive.ReadAt(b, end-int64(len(b))); err != nil {
		return tf.Errorf(tf.DataLoss, "%v", err)
	}
	for at := len(b); at >= 0; at = bytes.LastIndex(b[:at], []byte(localMagic)) {
		if h := b[at:]; len(h) >= localHeader && len(h) == localHeader+int(binary.LittleEndian.Uint16(h[26:]))+int(binary.LittleEndian.Uint16(h[28:])) {
			if name := h[localHeader:][:binary.LittleEndian.Uint16(h[26:])]; string(name) != f.Name {
				return tf.Errorf(tf.DataLoss, "an entry of an npz file must have one name, it has %q, too", name)
			}
			return nil
		}
	}
	return tf.Errorf(tf.DataLoss, "an entry of an npz file must have a header")
}

func named(name string, err error) error {
	e := *tf.AsError(err)
	e.Msg = name + ": " + e.Message()
	return &e
}
