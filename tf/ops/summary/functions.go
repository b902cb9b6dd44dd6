package summary

import "github.com/gorge-tf/gorge/tf"

// WriterOpts are the optional attributes of SummaryWriter: nodes of equal
// container and shared name are one writer.
type WriterOpts struct{ Container, SharedName string }

// Apply sets the attributes.
func (o WriterOpts) Apply(s *tf.Spec) {
	s.Set("container", o.Container)
	s.Set("shared_name", o.SharedName)
}

// SummaryWriter returns the handle of a writer of events, which
// [CreateSummaryFileWriter] makes. The result is a resource handle, a scalar.
// A container of characters other than letters, digits, dots, slashes and
// hyphens, and a shared name that begins with an underscore, are refused with
// INVALID_ARGUMENT in the step, a nil g when the graph is built.
// Its options are [WriterOpts].
func SummaryWriter(g *tf.Graph, opts ...tf.Option) tf.Output {
	return tf.Apply(g, "SummaryWriter", nil, opts...).Output(0)
}

// CreateSummaryFileWriter makes a writer, if the handle has none, whose file
// is in the directory dir. Events are written to the file when there are more
// than maxQueue, an int32, or after flushMillis milliseconds, an int32. All
// inputs are scalars. An input of more or less than one element is refused
// with INVALID_ARGUMENT in the step.
func CreateSummaryFileWriter(writer, dir, maxQueue, flushMillis, suffix tf.Output, opts ...tf.Option) *tf.Operation {
	return tf.Apply(nil, "CreateSummaryFileWriter", []tf.Output{writer, dir, maxQueue, flushMillis, suffix}, opts...)
}

// FlushSummaryWriter writes what waits to the file. A handle without a writer
// is refused with NOT_FOUND in the step.
func FlushSummaryWriter(writer tf.Output, opts ...tf.Option) *tf.Operation {
	return tf.Apply(nil, "FlushSummaryWriter", []tf.Output{writer}, opts...)
}

// CloseSummaryWriter ends a writer and its file. A handle without a writer is
// refused with NOT_FOUND in the step.
func CloseSummaryWriter(writer tf.Output, opts ...tf.Option) *tf.Operation {
	return tf.Apply(nil, "CloseSummaryWriter", []tf.Output{writer}, opts...)
}

// WriteScalarSummary writes the summary of a number, see [ScalarSummary]. The
// step is an int64 scalar here and in the ops below. The value is a number of
// any real type, made float32. A step or tag that has not one element, and a
// value without elements, are refused with INVALID_ARGUMENT in the step, a
// bfloat16 with UNIMPLEMENTED.
func WriteScalarSummary(writer, step, tag, value tf.Output, opts ...tf.Option) *tf.Operation {
	return tf.Apply(nil, "WriteScalarSummary", []tf.Output{writer, step, tag, value}, opts...)
}

// WriteHistogramSummary writes the summary of a distribution, see
// [HistogramSummary]. The values are real numbers or bools. NaN, infinities
// and a step or tag that has not one element are refused with INVALID_ARGUMENT
// in the step, bfloat16 with UNIMPLEMENTED.
func WriteHistogramSummary(writer, step, tag, values tf.Output, opts ...tf.Option) *tf.Operation {
	return tf.Apply(nil, "WriteHistogramSummary", []tf.Output{writer, step, tag, values}, opts...)
}

// WriteSummary writes the summary of a tensor, see [TensorSummaryV2]. The
// tensor may have any type and shape. A step, tag or metadata that has not one
// element is refused with INVALID_ARGUMENT in the step.
func WriteSummary(writer, step, tensor, tag, metadata tf.Output, opts ...tf.Option) *tf.Operation {
	return tf.Apply(nil, "WriteSummary", []tf.Output{writer, step, tensor, tag, metadata}, opts...)
}

// MaxImages is the optional attribute of WriteImageSummary: how many images of
// a batch are written. It is 3 if not given.
type MaxImages int

// Apply sets the attribute.
func (n MaxImages) Apply(s *tf.Spec) { s.Set("max_images", int(n)) }

// WriteImageSummary writes the summary of images, see [ImageSummary]. The
// color of bad pixels is a vector of uint8. Images are uint8, float16, float32
// or float64. A step or tag that has not one element, and what [ImageSummary]
// refuses, are refused with INVALID_ARGUMENT in the step.
// Its options are [MaxImages].
func WriteImageSummary(writer, step, tag, tensor, badColor tf.Output, opts ...tf.Option) *tf.Operation {
	return tf.Apply(nil, "WriteImageSummary", []tf.Output{writer, step, tag, tensor, badColor}, opts...)
}

// WriteAudioSummary writes the summary of sounds, see [AudioSummaryV2]. Its
// optional attributes are [AudioOpts]. A step, tag or rate that has not one
// element, and what [AudioSummaryV2] refuses, are refused with
// INVALID_ARGUMENT in the step.
func WriteAudioSummary(writer, step, tag, tensor, rate tf.Output, opts ...tf.Option) *tf.Operation {
	return tf.Apply(nil, "WriteAudioSummary", []tf.Output{writer, step, tag, tensor, rate}, opts...)
}

// WriteGraphSummary writes a serialized GraphDef, a scalar. A string that is
// no GraphDef is refused with DATA_LOSS in the step, a step or graph that has
// not one element with INVALID_ARGUMENT.
func WriteGraphSummary(writer, step, graph tf.Output, opts ...tf.Option) *tf.Operation {
	return tf.Apply(nil, "WriteGraphSummary", []tf.Output{writer, step, graph}, opts...)
}

// WriteRawProtoSummary writes the values of serialized summaries, a tensor of
// any shape, as one summary. A string that is no Summary is refused with
// DATA_LOSS in the step, a step that has not one element with
// INVALID_ARGUMENT.
func WriteRawProtoSummary(writer, step, summaries tf.Output, opts ...tf.Option) *tf.Operation {
	return tf.Apply(nil, "WriteRawProtoSummary", []tf.Output{writer, step, summaries}, opts...)
}

// ImportEvent writes a serialized Event, a scalar, as it is. An event that has
// not one element is refused with INVALID_ARGUMENT in the step.
func ImportEvent(writer, event tf.Output, opts ...tf.Option) *tf.Operation {
	return tf.Apply(nil, "ImportEvent", []tf.Output{writer, event}, opts...)
}
