package npy_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/dense/npy"
)

// Write writes what numpy.load reads; Read reads what numpy.save has written.
func ExampleWrite() {
	t, err := tf.FromSlice([]float32{1, 2, 3, 4}, 2, 2)
	if err != nil {
		fmt.Println(err)
		return
	}
	var file bytes.Buffer
	if err := npy.Write(&file, t); err != nil {
		fmt.Println(err)
		return
	}
	again, err := npy.Read(&file)
	fmt.Println(again, err)
	// Output: float32[2,2]{1, 2, 3, 4} <nil>
}

// An archive holds tensors by name.
func ExampleWriteArchive() {
	var file bytes.Buffer
	weights := map[string]*tf.Tensor{"w": tf.Scalar[float32](3), "b": tf.Scalar[float32](1)}
	if err := npy.WriteArchive(&file, weights, true); err != nil {
		fmt.Println(err)
		return
	}
	read, err := npy.ReadArchive(bytes.NewReader(file.Bytes()), int64(file.Len()))
	fmt.Println(read["w"], read["b"], err)
	// Output: float32[]{3} float32[]{1} <nil>
}

// WriteFile and ReadFile are numpy's save and load.
func ExampleReadFile() {
	dir, err := os.MkdirTemp("", "npy")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	name := filepath.Join(dir, "w.npy")
	fmt.Println(npy.WriteFile(name, tf.Scalar[float32](3)))
	fmt.Println(npy.ReadFile(name))
	_, err = npy.ReadFile(filepath.Join(dir, "none.npy"))
	fmt.Println(tf.CodeOf(err))
	// Output:
	// <nil>
	// float32[]{3} <nil>
	// NOT_FOUND
}
