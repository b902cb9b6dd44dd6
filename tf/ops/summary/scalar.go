package summary

import (
	"math"

	"google.golang.org/protobuf/proto"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/pb"
)

const numberAttr = "{float, double, int32, uint8, int16, int8, int64, bfloat16, uint16, half, uint32, uint64}"

func init() {
	by := map[tf.DType]core.NewKernel{}
	histograms := map[tf.DType]core.NewKernel{}
	for d, n := range realNumbers {
		by[d], histograms[d] = scalarSummary(n), histogramSummary(n)
	}
	register("ScalarSummary", "tags: string; values: T", "T: "+numberAttr, core.ByType("T", by))
	register("HistogramSummary", "tag: string; values: T", "T: "+numberAttr+" = DT_FLOAT", core.ByType("T", histograms))
	register("MergeSummary", "inputs: N * string", "N: int >= 1", core.AnyType(mergeSummary))
	core.Register(core.OpDef{
		Name: "TensorSummary", In: "tensor: T", Out: "summary: string", Attrs: "T: type; description: string = ''; labels: list(string) = []; display_name: string = ''",
		Shape: core.ScalarShape, NoGrad: core.NotDifferentiable, Kernels: core.AnyType(tensorSummary), Traits: core.SaysItsName,
	})
	register("TensorSummaryV2", "tag: string; tensor: T; serialized_summary_metadata: string", "T: type", core.AnyType(tensorSummaryV2))
}

// register registers an op whose result is a summary.
func register(name, in, attrs string, k core.KernelSet) {
	core.Register(core.OpDef{
		Name: name, In: in, Out: "summary: string", Attrs: attrs, Shape: core.ScalarShape, NoGrad: core.NotDifferentiable, Kernels: k,
	})
}

func summaryOf(op string, in []tf.Output, opts []tf.Option) tf.Output {
	return tf.Apply(nil, op, in, opts...).Output(0)
}

// ScalarSummary returns a summary of one number for each tag. Tags and values
// have one shape. The values are real numbers and become float32; the result
// is a scalar string, a serialized Summary. Tags and values of different
// shapes are refused with INVALID_ARGUMENT in the step.
func ScalarSummary(tags, values tf.Output, opts ...tf.Option) tf.Output {
	return summaryOf("ScalarSummary", []tf.Output{tags, values}, opts)
}

// HistogramSummary returns a summary of how the values, numbers in a tensor of
// any shape, are distributed. The tag is a scalar; the result is a scalar
// string, a serialized Summary, whose buckets grow by a tenth from 1e-12 to
// 1e20 on both sides of zero. Values that are infinite or NaN, and a tag that
// is no scalar, are refused with INVALID_ARGUMENT in the step.
func HistogramSummary(tag, values tf.Output, opts ...tf.Option) tf.Output {
	return summaryOf("HistogramSummary", []tf.Output{tag, values}, opts)
}

// MergeSummary returns a summary of all values of the inputs, tensors of
// summaries. The inputs are strings of any shapes, one tensor at least; the
// result is a scalar string. A string that is no Summary, and two values of
// one tag, are refused with INVALID_ARGUMENT in the step.
func MergeSummary(inputs []tf.Output, opts ...tf.Option) tf.Output {
	return summaryOf("MergeSummary", inputs, opts)
}

// TensorSummaryOpts are the optional attributes of TensorSummary, none of which
// gets into the summary.
type TensorSummaryOpts struct {
	Description, DisplayName string
	Labels                   []string
}

// Apply sets the attributes.
func (o TensorSummaryOpts) Apply(s *tf.Spec) {
	s.Set("description", o.Description)
	s.Set("display_name", o.DisplayName)
	s.Set("labels", append([]string{}, o.Labels...))
}

// TensorSummary returns a summary of a whole tensor, which has the name of the
// node instead of a tag. The tensor may have any type and shape; the result is
// a scalar string, a serialized Summary. No type is refused; of variants only
// their type and shape are written. Its options are [TensorSummaryOpts].
func TensorSummary(tensor tf.Output, opts ...tf.Option) tf.Output {
	return summaryOf("TensorSummary", []tf.Output{tensor}, opts)
}

// TensorSummaryV2 returns a summary of a whole tensor. The tag and the
// metadata, a serialized SummaryMetadata, are scalars. The tensor may have any
// type and shape; the result is a scalar string, a serialized Summary. A tag
// or metadata that are no scalars are refused with INVALID_ARGUMENT in the
// step; metadata that do not parse are left out.
func TensorSummaryV2(tag, tensor, metadata tf.Output, opts ...tf.Option) tf.Output {
	return summaryOf("TensorSummaryV2", []tf.Output{tag, tensor, metadata}, opts)
}

func scalarSummary(n numbers) core.NewKernel {
	return func(*core.Node) (core.Kernel, error) {
		return core.Compute(func(c *core.OpContext) error {
			tags, values := core.Data[string](c.Input(0)), c.Input(1)
			if s, v := c.Input(0).Shape(), values.Shape(); !s.Equal(v) {
				which := ""
				if len(tags) == 1 {
					which = " (tag '" + tags[0] + "')"
				}
				return tf.Errorf(tf.InvalidArgument, "tags and values are not the same shape: %s != %s%s", s.String(), v.String(), which)
			}
			all := core.Make[*pb.Summary_Value](len(tags))
			for i, tag := range tags {
				all[i] = simple(tag, float32At(values, n, i))
			}
			return set(c, all...)
		}), nil
	}
}

// simple returns a summary's value that is one number.
func simple(tag string, v float32) *pb.Summary_Value {
	return &pb.Summary_Value{Tag: tag, Value: &pb.Summary_Value_SimpleValue{SimpleValue: v}}
}

func histogramSummary(n numbers) core.NewKernel {
	return func(node *core.Node) (core.Kernel, error) {
		name := node.Name
		return core.Compute(func(c *core.OpContext) error {
			tag, err := scalarText(c, 0, "tags must be scalar")
			if err != nil {
				return err
			}
			h, bad := histogramOf(c.Input(1), n)
			switch {
			case math.IsNaN(bad):
				return tf.Errorf(tf.InvalidArgument, "Nan in summary histogram for: %s", name)
			case bad != 0:
				return tf.Errorf(tf.InvalidArgument, "Infinity in Histogram for: %s", name)
			}
			return set(c, h.value(tag))
		}), nil
	}
}

func mergeSummary(*core.Node) (core.Kernel, error) {
	return core.Compute(func(c *core.OpContext) error {
		var all []*pb.Summary_Value
		seen := map[string]bool{}
		for _, in := range c.Tensors(0, c.Inputs()) {
			for _, s := range core.Data[string](in) {
				values, err := distinct(s, seen)
				if err != nil {
					return err
				}
				all = append(all, values...)
			}
		}
		return set(c, all...)
	}), nil
}

// distinct returns the values of a summary, whose tags must not have been seen.
func distinct(summary string, seen map[string]bool) ([]*pb.Summary_Value, error) {
	s := &pb.Summary{}
	if proto.Unmarshal([]byte(summary), s) != nil {
		return nil, tf.Errorf(tf.InvalidArgument, "Could not parse one of the summary inputs")
	}
	for _, v := range s.GetValue() {
		tag := v.GetTag() // tensors may have none
		if tag != "" && seen[tag] {
			return nil, tf.Errorf(tf.InvalidArgument, "Duplicate tag %s found in summary inputs ", tag)
		}
		seen[tag] = true
	}
	return s.GetValue(), nil
}

func tensorSummary(n *core.Node) (core.Kernel, error) {
	name := n.Name
	return core.Compute(func(c *core.OpContext) error {
		return set(c, &pb.Summary_Value{NodeName: name, Value: &pb.Summary_Value_Tensor{Tensor: core.TensorProto(c.Input(0))}})
	}), nil
}

func tensorSummaryV2(*core.Node) (core.Kernel, error) {
	return core.Compute(func(c *core.OpContext) error {
		tag, err := scalarText(c, 0, "tag must be scalar")
		if err != nil {
			return err
		}
		metadata, err := scalarText(c, 2, "serialized_summary_metadata must be scalar")
		if err != nil {
			return err
		}
		return set(c, tensorValue(tag, c.Input(1), metadata))
	}), nil
}

// tensorValue returns a summary's value that is a tensor. What can be read of
// the metadata is taken.
func tensorValue(tag string, t *core.Tensor, metadata string) *pb.Summary_Value {
	m := &pb.SummaryMetadata{}
	_ = proto.Unmarshal([]byte(metadata), m)
	return &pb.Summary_Value{Tag: tag, Value: &pb.Summary_Value_Tensor{Tensor: core.TensorProto(t)}, Metadata: m}
}
