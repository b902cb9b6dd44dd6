package summary_test

import (
	"cmp"
	"fmt"
	"os"

	"google.golang.org/protobuf/proto"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/eager"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/ops/summary"
	"github.com/gorge-tf/gorge/tf/pb"
)

// tagsIn prints the tags of a summary, a serialized message, or the names of
// nodes where it has these.
func tagsIn(x tf.Output) {
	v, err := x.Value()
	if err != nil {
		fmt.Println(err)
		return
	}
	var s pb.Summary
	if err := proto.Unmarshal([]byte(tf.Data[string](v)[0]), &s); err != nil {
		fmt.Println(err)
		return
	}
	for _, value := range s.GetValue() {
		fmt.Println(cmp.Or(value.GetTag(), value.GetNodeName()))
	}
}

// Of a batch of three sounds two are kept, with a tag each.
func ExampleAudioSummary() {
	g := eager.New()
	sounds := ops.Fill([]int{3, 10, 1}, ops.Scalar[float32](g, 0.5)) // sounds, frames, channels
	tagsIn(summary.AudioSummary(ops.Scalar(g, "voice"), sounds, 8000, summary.AudioOpts{MaxOutputs: 2}))
	// Output:
	// voice/audio/0
	// voice/audio/1
}

// Pixels that are no numbers are green here, not red.
func ExampleImageSummary() {
	green, err := tf.FromSlice([]uint8{0, 255, 0})
	if err != nil {
		fmt.Println(err)
		return
	}
	g := eager.New()
	images := ops.Fill([]int{3, 2, 2, 3}, ops.Scalar[float32](g, 0.5)) // images, height, width, channels
	tagsIn(summary.ImageSummary(ops.Scalar(g, "input"), images, summary.ImageOpts{MaxImages: 2, BadColor: green}))
	// Output:
	// input/image/0
	// input/image/1
}

// A summary of a whole tensor has the name of its node, in an eager graph that
// of the op. Description and labels are attributes of the node alone.
func ExampleTensorSummary() {
	g := eager.New()
	x := ops.Const(g, []float32{1, 2})
	o := summary.TensorSummaryOpts{Description: "weights of the last layer", DisplayName: "weights"}
	tagsIn(summary.TensorSummary(x, o))
	// Output: TensorSummary
}

// A writer makes a file of events that TensorBoard shows, here with one image.
func ExampleSummaryWriter() {
	dir, err := os.MkdirTemp("", "events")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	g := eager.New()
	w := summary.SummaryWriter(g, summary.WriterOpts{SharedName: "train"})
	queue, millis := ops.Scalar[int32](g, 10), ops.Scalar[int32](g, 1000)
	images, bad := ops.Fill([]int{3, 2, 2, 1}, ops.Scalar[uint8](g, 128)), ops.Const(g, []uint8{255, 0, 0, 255})
	for _, op := range []*tf.Operation{
		summary.CreateSummaryFileWriter(w, ops.Scalar(g, dir), queue, millis, ops.Scalar(g, ".v2")),
		summary.WriteScalarSummary(w, ops.Scalar[int64](g, 1), ops.Scalar(g, "loss"), ops.Scalar[float32](g, 0.5)),
		summary.WriteImageSummary(w, ops.Scalar[int64](g, 1), ops.Scalar(g, "input"), images, bad, summary.MaxImages(1)),
		summary.CloseSummaryWriter(w),
	} {
		if err := op.Err(); err != nil {
			fmt.Println(err)
			return
		}
	}
	files, err := os.ReadDir(dir)
	fmt.Println(len(files), err)
	// Output: 1 <nil>
}
