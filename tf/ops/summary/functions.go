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
// [CreateSummaryFileWriter] makes. Its options are [WriterOpts].
func SummaryWriter(g *tf.Graph, opts ...tf.Option) tf.Output {
	return tf.Apply(g, "SummaryWriter", nil, opts...).Output(0)
}

// CreateSummaryFileWriter makes a writer, if the handle has none, whose file is
// in the directory dir. Events are written to the file when there are more than
// maxQueue, an int32, or after flushMillis milliseconds, an int32. All inputs are
// scalars.
func CreateSummaryFileWriter(writer, dir, maxQueue, flushMillis, suffix tf.Output, opts ...tf.Option) *tf.Operation {
	return tf.Apply(nil, "CreateSummaryFileWriter", []tf.Output{writer, dir, maxQueue, flushMillis, suffix}, opts...)
}

// FlushSummaryWriter writes what waits to the file.
func FlushSummaryWriter(writer tf.Output, opts ...tf.Option) *tf.Operation {
	return tf.Apply(nil, "FlushSummaryWriter", []tf.Output{writer}, opts...)
}

// CloseSummaryWriter ends a writer and its file.
func CloseSummaryWriter(writer tf.Output, opts ...tf.Option) *tf.Operation {
	return tf.Apply(nil, "CloseSummaryWriter", []tf.Output{writer}, opts...)
}

// WriteScalarSummary writes the summary of a number, see [ScalarSummary]. The
// step is an int64 scalar here and in the ops below.
func WriteScalarSummary(writer, step, tag, value tf.Output, opts ...tf.Option) *tf.Operation {
	return tf.Apply(nil, "WriteScalarSummary", []tf.Output{writer, step, tag, value}, opts...)
}

// WriteHistogramSummary writes the summary of a distribution, see
// [HistogramSummary].
func WriteHistogramSummary(writer, step, tag, values tf.Output, opts ...tf.Option) *tf.Operation {
	return tf.Apply(nil, "WriteHistogramSummary", []tf.Output{writer, step, tag, values}, opts...)
}

// WriteSummary writes the summary of a tensor, see [TensorSummaryV2].
func WriteSummary(writer, step, tensor, tag, metadata tf.Output, opts ...tf.Option) *tf.Operation {
	return tf.Apply(nil, "WriteSummary", []tf.Output{writer, step, tensor, tag, metadata}, opts...)
}

// MaxImages is the optional attribute of WriteImageSummary: how many images of
// a batch are written. It is 3 if not given.
type MaxImages int

// Apply sets the attribute.
func (n MaxImages) Apply(s *tf.Spec) { s.Set("max_images", int(n)) }

// WriteImageSummary writes the summary of images, see [ImageSummary]. The color
// of bad pixels is a vector of uint8. Its options are [MaxImages].
func WriteImageSummary(writer, step, tag, tensor, badColor tf.Output, opts ...tf.Option) *tf.Operation {
	return tf.Apply(nil, "WriteImageSummary", []tf.Output{writer, step, tag, tensor, badColor}, opts...)
}

// WriteAudioSummary writes the summary of sounds, see [AudioSummaryV2]. Its
// optional attributes are [AudioOpts].
func WriteAudioSummary(writer, step, tag, tensor, rate tf.Output, opts ...tf.Option) *tf.Operation {
	return tf.Apply(nil, "WriteAudioSummary", []tf.Output{writer, step, tag, tensor, rate}, opts...)
}

// WriteGraphSummary writes a serialized GraphDef, a scalar.
func WriteGraphSummary(writer, step, graph tf.Output, opts ...tf.Option) *tf.Operation {
	return tf.Apply(nil, "WriteGraphSummary", []tf.Output{writer, step, graph}, opts...)
}

// WriteRawProtoSummary writes the values of serialized summaries, a tensor of any
// shape, as one summary.
func WriteRawProtoSummary(writer, step, summaries tf.Output, opts ...tf.Option) *tf.Operation {
	return tf.Apply(nil, "WriteRawProtoSummary", []tf.Output{writer, step, summaries}, opts...)
}

// ImportEvent writes a serialized Event, a scalar, as it is.
func ImportEvent(writer, event tf.Output, opts ...tf.Option) *tf.Operation {
	return tf.Apply(nil, "ImportEvent", []tf.Output{writer, event}, opts...)
}
