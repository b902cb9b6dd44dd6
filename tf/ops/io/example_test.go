package io_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/eager"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/ops/io"
	"github.com/gorge-tf/gorge/tf/ops/queue"
)

// Records of two bytes behind a header. Work, names of files, is in a queue.
func ExampleFixedLengthRecordReaderV2() {
	dir, err := os.MkdirTemp("", "io")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	if err := os.WriteFile(filepath.Join(dir, "records"), []byte("HEADaabbcc"), 0o644); err != nil {
		fmt.Println(err)
		return
	}
	g := eager.New()
	work := queue.NewFIFO(g, []tf.DType{tf.String}, queue.Opts{Shapes: []tf.Shape{{}}})
	if err := work.EnqueueMany([]tf.Output{io.MatchingFiles(ops.Scalar(g, filepath.Join(dir, "*")))}).Err(); err != nil {
		fmt.Println(err)
		return
	}
	reader := io.FixedLengthRecordReaderV2(g, 2, io.FixedLengthOpts{HeaderBytes: 4})
	keys, values := io.ReaderReadUpToV2(reader, work.Handle, ops.Scalar[int64](g, 2))
	k, err := keys.Value()
	if err != nil {
		fmt.Println(err)
		return
	}
	v, err := values.Value()
	fmt.Println(strings.TrimPrefix(tf.Data[string](k)[0], dir+string(filepath.Separator)), v, err)
	// Output: records:0 string[2]{"aa", "bb"} <nil>
}

// Two nodes of one shared name are one reader.
func ExampleSharedOpts() {
	g := eager.New()
	work := queue.NewFIFO(g, []tf.DType{tf.String}, queue.Opts{Shapes: []tf.Shape{{}}})
	if err := work.EnqueueMany([]tf.Output{ops.Const(g, []string{"first", "second"})}).Err(); err != nil {
		fmt.Println(err)
		return
	}
	for range 2 {
		reader := io.IdentityReaderV2(g, io.SharedOpts{SharedName: "names"})
		_, value := io.ReaderReadV2(reader, work.Handle)
		for _, y := range []tf.Output{value, io.ReaderNumRecordsProducedV2(reader)} {
			v, err := y.Value()
			fmt.Println(v, err)
		}
	}
	// Output:
	// string[]{"first"} <nil>
	// int64[]{1} <nil>
	// string[]{"second"} <nil>
	// int64[]{2} <nil>
}
