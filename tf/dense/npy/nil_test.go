package npy_test

import (
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/dense/npy"
)

// TestNilFiles: a reader or writer that is nil is a mistake, no panic.
func TestNilFiles(t *testing.T) {
	x := tf.Scalar(1.5)
	for name, call := range map[string]func() error{
		"Write":        func() error { return npy.Write(nil, x) },
		"WriteArchive": func() error { return npy.WriteArchive(nil, map[string]*tf.Tensor{"x": x}, true) },
		"Read":         func() error { _, err := npy.Read(nil); return err },
		"ReadArchive":  func() error { _, err := npy.ReadArchive(nil, 10); return err },
	} {
		if err := call(); tf.CodeOf(err) != tf.InvalidArgument {
			t.Errorf("%s: %v", name, err)
		}
	}
}
