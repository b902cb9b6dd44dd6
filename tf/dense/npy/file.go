package npy

import (
	"errors"
	"os"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

// ReadFile reads the tensor of a .npy file. A file that is not there is NOT_FOUND.
func ReadFile(name string) (t *tf.Tensor, err error) {
	err = opened(name, func(f *os.File) error {
		t, err = Read(f)
		return err
	})
	return t, err
}

// WriteFile writes t to a .npy file, which is made or written over.
func WriteFile(name string, t *tf.Tensor) error {
	return created(name, func(f *os.File) error { return Write(f, t) })
}

// ReadArchiveFile reads the tensors of a .npz file, by name.
func ReadArchiveFile(name string) (tensors map[string]*tf.Tensor, err error) {
	err = opened(name, func(f *os.File) error {
		info, err := f.Stat()
		if err != nil {
			return core.FileError(name, err)
		}
		tensors, err = ReadArchive(f, info.Size())
		return err
	})
	return tensors, err
}

// WriteArchiveFile writes tensors to a .npz file, which is made or written over.
func WriteArchiveFile(name string, tensors map[string]*tf.Tensor, compress bool) error {
	return created(name, func(f *os.File) error { return WriteArchive(f, tensors, compress) })
}

// opened calls read with a file, whose name its errors have.
func opened(name string, read func(f *os.File) error) error {
	f, err := os.Open(name)
	if err != nil {
		return core.FileError(name, err)
	}
	defer f.Close()
	if info, err := f.Stat(); err == nil && info.IsDir() {
		return tf.Errorf(tf.FailedPrecondition, "%s; Is a directory", name)
	}
	return inFile(name, read(f))
}

// created calls write with a new file.
func created(name string, write func(f *os.File) error) error {
	f, err := os.Create(name)
	if err != nil {
		return core.FileError(name, err)
	}
	err = write(f)
	if closed := f.Close(); err == nil && closed != nil {
		err = core.FileError(name, closed)
	}
	return inFile(name, err)
}

// inFile says in which file something is wrong.
func inFile(name string, err error) error {
	var failed *os.PathError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &failed):
		return core.FileError(name, err)
	}
	return named(name, err)
}
