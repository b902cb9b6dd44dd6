package timeline_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/session"
	"github.com/gorge-tf/gorge/tf/timeline"
)

// A traced step is drawn for chrome://tracing.
func ExampleWrite() {
	g := tf.NewGraph()
	y := ops.Placeholder(g, tf.Float32, tf.Shape{})
	s, err := session.New(g)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer s.Close()
	o := session.RunOptions{Trace: session.FullTrace}
	_, meta, err := s.RunWithOptions(context.Background(), o, session.Feeds{y: tf.Scalar[float32](3)}, y.Square())
	if err != nil {
		fmt.Println(err)
		return
	}
	var file bytes.Buffer
	err = timeline.Write(&file, meta, timeline.Options{})
	fmt.Println(json.Valid(file.Bytes()), err)
	// Output: true <nil>
}
