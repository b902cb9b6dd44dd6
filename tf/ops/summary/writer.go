package summary

import (
	"math"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/gorge-tf/gorge/internal/handle"
	"github.com/gorge-tf/gorge/internal/resource"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/pb"
	"github.com/gorge-tf/gorge/tf/summary"
)

// A fileWriter is the resource behind the handles of writers.
type fileWriter struct{ *summary.Writer }

// Close ends the file, when the resource is deleted.
func (w *fileWriter) Close() { _ = w.Writer.Close() }

var _ = resource.Declare[*fileWriter]("tensorflow::SummaryWriterInterface")

func init() {
	core.Register(core.OpDef{
		Name: "SummaryWriter", Out: "writer: resource", Attrs: "shared_name: string = ''; container: string = ''", Stateful: true,
		Shape: core.ScalarShape, NoGrad: core.NoGradientDefined, Kernels: core.AnyType(func(n *core.Node) (core.Kernel, error) { return handle.Name[*fileWriter](n), nil }),
	})
	onWriter("CreateSummaryFileWriter", "; logdir: string; max_queue: int32; flush_millis: int32; filename_suffix: string", "", createFileWriter)
	onWriter("FlushSummaryWriter", "", "", uses(func(_ *core.OpContext, w *fileWriter) error { return w.Flush() }))
	onWriter("CloseSummaryWriter", "", "", compute(func(c *core.OpContext) error { return handle.Delete[*fileWriter](c, 0) }))
	onWriter("WriteScalarSummary", "; step: int64; tag: string; value: T", "T: "+numberAttr, uses(writeScalar))
	onWriter("WriteHistogramSummary", "; step: int64; tag: string; values: T",
		"T: {float, double, int32, uint8, int16, int8, int64, bfloat16, uint16, half, uint32, uint64, bool} = DT_FLOAT", uses(writeHistogram))
	onWriter("WriteSummary", "; step: int64; tensor: T; tag: string; summary_metadata: string", "T: type", uses(writeTensor))
	onWriter("WriteImageSummary", "; step: int64; tag: string; tensor: T; bad_color: uint8", "max_images: int >= 1 = 3; T: {uint8, double, float, half} = DT_FLOAT", writeImage)
	onWriter("WriteAudioSummary", "; step: int64; tag: string; tensor: float; sample_rate: float", "max_outputs: int >= 1 = 3", writeAudio)
	onWriter("WriteGraphSummary", "; step: int64; tensor: string", "", uses(writeGraph))
	onWriter("WriteRawProtoSummary", "; step: int64; tensor: string", "", uses(writeRawProto))
	onWriter("ImportEvent", "; event: string", "", uses(importEvent))
}

// onWriter registers an op whose first input is the handle of a writer.
func onWriter(name, in, attrs string, k core.NewKernel) {
	core.Register(core.OpDef{
		Name: name, In: "writer: resource" + in, Attrs: attrs, Stateful: true,
		Shape: func(*core.Infer) error { return nil }, NoGrad: core.NoGradientDefined, Kernels: core.AnyType(k),
	})
}

func compute(f core.Compute) core.NewKernel {
	return func(*core.Node) (core.Kernel, error) { return f, nil }
}

// uses makes the factory of kernels that do something with a writer.
func uses(f func(*core.OpContext, *fileWriter) error) core.NewKernel {
	return compute(func(c *core.OpContext) error {
		w, err := handle.Find[*fileWriter](c, 0)
		if err != nil {
			return err
		}
		return f(c, w)
	})
}

func createFileWriter(*core.Node) (core.Kernel, error) {
	return core.Compute(func(c *core.OpContext) error {
		for i := 1; i < c.Inputs(); i++ {
			if err := single(c, i); err != nil {
				return err
			}
		}
		o := summary.Opts{
			MaxQueue: max(1, int(core.Data[int32](c.Input(2))[0])), FlushEvery: max(1, time.Duration(core.Data[int32](c.Input(3))[0])*time.Millisecond),
			Suffix: core.Data[string](c.Input(4))[0],
		}
		_, err := handle.FindOrCreate(c, 0, func() (*fileWriter, error) {
			w, err := summary.NewWriter(core.Data[string](c.Input(1))[0], o)
			return &fileWriter{w}, err
		})
		return err
	}), nil
}

// single checks that input i has one element.
func single(c *core.OpContext, i int) error {
	if t := c.Input(i); t.Len() != 1 {
		return tf.Errorf(tf.InvalidArgument, "%s must be a scalar, got shape %s", c.Node.Def.Inputs[i].Name, t.Shape().String())
	}
	return nil
}

// stepAndTag returns the step of an event, input 1, and the tag, input at.
func stepAndTag(c *core.OpContext, at int) (step int64, tag string, err error) {
	for _, i := range []int{1, at} {
		if err := single(c, i); err != nil {
			return 0, "", err
		}
	}
	return core.Data[int64](c.Input(1))[0], core.Data[string](c.Input(at))[0], nil
}

// write adds a summary of values to the file.
func (w *fileWriter) write(step int64, values ...*pb.Summary_Value) error {
	b, err := proto.Marshal(&pb.Summary{Value: values})
	if err != nil {
		return err
	}
	return w.Summary(step, string(b))
}

func writeScalar(c *core.OpContext, w *fileWriter) error {
	step, tag, err := stepAndTag(c, 2)
	if err != nil {
		return err
	}
	t := c.Input(3)
	switch {
	case t.DType() == tf.BFloat16:
		return tf.Errorf(tf.Unimplemented, "SummaryFileWriter bfloat16 not supported.")
	case t.Len() == 0:
		return tf.Errorf(tf.InvalidArgument, "value must have an element")
	}
	return w.Scalar(step, tag, float32At(t, realNumbers[t.DType()], 0))
}

func writeHistogram(c *core.OpContext, w *fileWriter) error {
	step, tag, err := stepAndTag(c, 2)
	if err != nil {
		return err
	}
	t, n := c.Input(3), booleans
	switch t.DType() {
	case tf.Bool:
	case tf.BFloat16:
		return tf.Errorf(tf.Unimplemented, "SummaryFileWriter bfloat16 not supported.")
	default:
		n = realNumbers[t.DType()]
	}
	h, bad := histogramOf(t, n)
	switch {
	case math.IsNaN(bad):
		return tf.Errorf(tf.InvalidArgument, "Nan in summary histogram for: %s", tag)
	case bad != 0:
		return tf.Errorf(tf.InvalidArgument, "Infinity in summary histogram for: %s", tag)
	}
	return w.write(step, h.value(tag))
}

func writeTensor(c *core.OpContext, w *fileWriter) error {
	step, tag, err := stepAndTag(c, 3)
	if err != nil {
		return err
	}
	if err := single(c, 4); err != nil {
		return err
	}
	metadata := core.Data[string](c.Input(4))[0]
	v := tensorValue(tag, c.Input(2), metadata)
	if metadata == "" {
		v.Metadata = nil
	}
	return w.write(step, v)
}

func writeImage(n *core.Node) (core.Kernel, error) {
	limit := n.Int("max_images")
	if limit >= 1<<31 {
		return nil, tf.Errorf(tf.InvalidArgument, "max_images must be < 2^31")
	}
	return uses(func(c *core.OpContext, w *fileWriter) error {
		step, tag, err := stepAndTag(c, 2)
		if err != nil {
			return err
		}
		if err := checkBadColor(c.Input(4)); err != nil {
			return err
		}
		values, err := images(tag, c.Input(3), limit, core.Data[uint8](c.Input(4)))
		if err != nil {
			return err
		}
		return w.write(step, values...)
	})(n)
}

func writeAudio(n *core.Node) (core.Kernel, error) {
	limit := n.Int("max_outputs")
	return uses(func(c *core.OpContext, w *fileWriter) error {
		step, tag, err := stepAndTag(c, 2)
		if err != nil {
			return err
		}
		if err := single(c, 4); err != nil {
			return err
		}
		values, err := sounds(tag, c.Input(3), limit, core.Data[float32](c.Input(4))[0])
		if err != nil {
			return err
		}
		return w.write(step, values...)
	})(n)
}

func writeGraph(c *core.OpContext, w *fileWriter) error {
	step, graph, err := stepAndTag(c, 2)
	if err != nil {
		return err
	}
	if proto.Unmarshal([]byte(graph), &pb.GraphDef{}) != nil {
		return tf.Errorf(tf.DataLoss, "Bad tf.GraphDef binary proto tensor string")
	}
	return w.Graph(step, []byte(graph))
}

// writeRawProto joins the summaries of a tensor, which follow each other in one
// event.
func writeRawProto(c *core.OpContext, w *fileWriter) error {
	if err := single(c, 1); err != nil {
		return err
	}
	all := &pb.Summary{}
	for i, s := range core.Data[string](c.Input(2)) {
		if (proto.UnmarshalOptions{Merge: true}).Unmarshal([]byte(s), all) != nil {
			return tf.Errorf(tf.DataLoss, "Bad tf.compat.v1.Summary binary proto tensor string at index %d", i)
		}
	}
	return w.write(core.Data[int64](c.Input(1))[0], all.GetValue()...)
}

func importEvent(c *core.OpContext, w *fileWriter) error {
	if err := single(c, 1); err != nil {
		return err
	}
	return w.Event([]byte(core.Data[string](c.Input(1))[0]))
}
