package record_test

import (
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/gorge-tf/gorge/tf/record"
)

// A file that another process is still writing ends in the middle of a record.
func ExampleOption() {
	dir, err := os.MkdirTemp("", "record")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	name := filepath.Join(dir, "growing")
	var plain record.Compression = record.None
	w, err := record.Create(name, plain)
	if err == nil {
		err = w.Write([]byte("whole"))
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		fmt.Println(err)
		return
	}
	data, err := os.ReadFile(name)
	if err == nil {
		err = os.WriteFile(name, append(data, 5, 0, 0), 0o600) // a part of the next header
	}
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, options := range [][]record.Option{nil, {record.Unfinished}} {
		r, err := record.Open(name, plain, options...)
		if err != nil {
			fmt.Println(err)
			return
		}
		defer r.Close()
		first, _ := r.Next()
		_, end := r.Next()
		fmt.Println(string(first), end == io.EOF)
	}
	// Output:
	// whole false
	// whole true
}
