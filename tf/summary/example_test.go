package summary_test

import (
	"context"
	"fmt"
	"os"

	"google.golang.org/protobuf/proto"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/data"
	"github.com/gorge-tf/gorge/tf/pb"
	"github.com/gorge-tf/gorge/tf/summary"
)

// A writer makes the files that TensorBoard shows; they are TFRecord files of
// events.
func ExampleWriter() {
	dir, err := os.MkdirTemp("", "events")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	w, err := summary.NewWriter(dir, summary.Opts{})
	if err != nil {
		fmt.Println(err)
		return
	}
	for step, loss := range []float32{0.9, 0.5} {
		if err := w.Scalar(int64(step), "loss", loss); err != nil {
			fmt.Println(err)
			return
		}
	}
	if err := w.Close(); err != nil {
		fmt.Println(err)
		return
	}

	for record, err := range data.TFRecord([]string{w.Name()}, "").All(context.Background()) {
		if err != nil {
			fmt.Println(err)
			return
		}
		var e pb.Event
		if err := proto.Unmarshal([]byte(tf.Data[string](record[0])[0]), &e); err != nil {
			fmt.Println(err)
			return
		}
		for _, v := range e.GetSummary().GetValue() {
			fmt.Println(e.GetStep(), v.GetTag(), v.GetSimpleValue())
		}
	}
	// Output:
	// 0 loss 0.9
	// 1 loss 0.5
}
