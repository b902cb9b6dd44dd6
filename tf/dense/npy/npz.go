package npy

import (
	"archive/zip"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/gorge-tf/gorge/tf"
)

// WriteArchive writes tensors by name as numpy's savez does, or, compressed, as
// savez_compressed.
func WriteArchive(w io.Writer, tensors map[string]*tf.Tensor, compress bool) error {
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
// savez_compressed has written.
func ReadArchive(r io.ReaderAt, size int64) (map[string]*tf.Tensor, error) {
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
		if out[name], err = readEntry(f); err != nil {
			return nil, named(name, err)
		}
	}
	return out, nil
}

func readEntry(f *zip.File) (*tf.Tensor, error) {
	r, err := f.Open()
	if err != nil {
		return nil, tf.Errorf(tf.DataLoss, "%v", err)
	}
	defer r.Close()
	return Read(r)
}

func named(name string, err error) error {
	e := *tf.AsError(err)
	e.Msg = name + ": " + e.Message()
	return &e
}
