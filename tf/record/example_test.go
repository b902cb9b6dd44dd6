package record_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/gorge-tf/gorge/tf/record"
)

// written makes a file of records in a directory of its own.
func written(records ...string) (name string, remove func(), err error) {
	dir, err := os.MkdirTemp("", "records")
	if err != nil {
		return "", nil, err
	}
	name, remove = filepath.Join(dir, "file.tfrecord"), func() { os.RemoveAll(dir) }
	w, err := record.Create(name, record.None)
	if err != nil {
		return "", remove, err
	}
	for _, r := range records {
		if err := w.Write([]byte(r)); err != nil {
			return "", remove, errors.Join(err, w.Close())
		}
	}
	return name, remove, w.Close()
}

func ExampleWriter() {
	dir, err := os.MkdirTemp("", "records")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	w, err := record.Create(filepath.Join(dir, "train.tfrecord.gz"), record.GZIP)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(w.Write([]byte("first")), w.Write([]byte("second")))
	fmt.Println(w.Close()) // completes the file
	// Output:
	// <nil> <nil>
	// <nil>
}

// A reader goes through the records in their order.
func ExampleReader() {
	name, remove, err := written("first", "second")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer remove()
	r, err := record.Open(name, record.None)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer r.Close()
	for {
		data, err := r.Next()
		if errors.Is(err, io.EOF) {
			return
		}
		fmt.Printf("%s %v\n", data, err)
	}
	// Output:
	// first <nil>
	// second <nil>
}

// With an index, records are read by their numbers.
func ExampleIndexedReader() {
	name, remove, err := written("zero", "one", "two")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer remove()
	x, err := record.BuildIndex(name)
	if err != nil {
		fmt.Println(err)
		return
	}
	r, err := record.OpenIndexed(name, x)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer r.Close()
	data, err := r.Read(2, nil)
	fmt.Printf("%d %s %v\n", r.Len(), data, err)
	// Output: 3 two <nil>
}

// An index can be saved beside its file.
func ExampleIndex() {
	name, remove, err := written("zero", "one")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer remove()
	x, err := record.BuildIndex(name)
	if err != nil {
		fmt.Println(err)
		return
	}
	if err := x.Save(name + ".index"); err != nil {
		fmt.Println(err)
		return
	}
	loaded, err := record.LoadIndex(name + ".index")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(loaded.Len())
	fmt.Println(loaded.At(1)) // 16 bytes around each record
	// Output:
	// 2
	// 20 19
}

// Several goroutines read several files.
func ExampleParallel() {
	a, removeA, err := written("a0", "a1")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer removeA()
	b, removeB, err := written("b0")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer removeB()
	for data, err := range record.Parallel(context.Background(), []string{a, b}, record.ParallelOptions{InOrder: true}) {
		fmt.Printf("%s %v\n", data, err)
	}
	// Output:
	// a0 <nil>
	// a1 <nil>
	// b0 <nil>
}
