package timeline_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"regexp"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/pb"
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

// measured returns the statistics of an operation of a GPU: it was scheduled in 10 µs,
// and its kernel ran from 30 µs to 80 µs. Its result has 4096 bytes.
func measured() *session.RunMetadata {
	made := &pb.NodeOutput{TensorDescription: &pb.TensorDescription{
		AllocationDescription: &pb.AllocationDescription{AllocatorName: "GPU_0_bfc", RequestedBytes: 4096},
	}}
	scheduled := &pb.NodeExecStats{
		NodeName: "y", TimelineLabel: "y = MatMul(a, b)", AllStartMicros: 100, AllEndRelMicros: 10, Output: []*pb.NodeOutput{made},
	}
	kernel := &pb.NodeExecStats{NodeName: "y:MatMul", AllStartMicros: 130, AllEndRelMicros: 50}
	return &session.RunMetadata{StepStats: &pb.StepStats{DevStats: []*pb.DeviceStepStats{
		{Device: "/job:localhost/replica:0/task:0/device:GPU:0", NodeStats: []*pb.NodeExecStats{scheduled}},
		{Device: "/device:GPU:0/stream:all", NodeStats: []*pb.NodeExecStats{kernel}},
	}}}
}

// times are when a region of the file begins and how long it is.
var times = regexp.MustCompile(`"ts": (\d+),\s*"dur": (\d+)`)

// An operation of a GPU is drawn while it is scheduled, while its kernels run, or both.
func ExampleOpTime() {
	for _, t := range []timeline.OpTime{timeline.Schedule, timeline.GPU, timeline.All} {
		var file bytes.Buffer
		if err := timeline.Write(&file, measured(), timeline.Options{OpTime: t}); err != nil {
			fmt.Println(err)
			return
		}
		y := times.FindStringSubmatch(file.String())
		fmt.Printf("at %s µs for %s µs\n", y[1], y[2])
	}
	// Output:
	// at 100 µs for 10 µs
	// at 130 µs for 50 µs
	// at 100 µs for 80 µs
}

// The most memory that a step had in use, by allocator.
func ExampleMaximum() {
	all, err := timeline.Maximums(measured())
	if err != nil {
		fmt.Println(err)
		return
	}
	var m timeline.Maximum = all["GPU_0_bfc"]
	fmt.Printf("%d bytes at %d µs: %v\n", m.Bytes, m.Micros, m.Tensors)
	// Output: 4096 bytes at 100 µs: [y]
}
