package io

import "github.com/gorge-tf/gorge/tf"

// ReaderReadV2 returns the next record of a reader, which takes work from a
// queue of strings when it has none. Both results are scalar strings. It waits
// for work, and fails with OUT_OF_RANGE once the queue is closed and empty. A
// queue of other elements than one string is refused with INVALID_ARGUMENT in
// the step, a file that is not there with NOT_FOUND, and a damaged one with
// DATA_LOSS.
func ReaderReadV2(reader, queue tf.Output, opts ...tf.Option) (key, value tf.Output) {
	o := tf.Apply(nil, "ReaderReadV2", []tf.Output{reader, queue}, opts...)
	return o.Output(0), o.Output(1)
}

// ReaderReadUpToV2 returns at least one and at most numRecords records, an
// int64 scalar. There are fewer when a piece of work ends. Both results are
// vectors of strings of equal length; without elements if numRecords is not
// positive. A numRecords that is no scalar is refused with INVALID_ARGUMENT,
// when the graph is built if its shape is known, else in the step. Other
// errors are those of ReaderReadV2.
func ReaderReadUpToV2(reader, queue, numRecords tf.Output, opts ...tf.Option) (keys, values tf.Output) {
	o := tf.Apply(nil, "ReaderReadUpToV2", []tf.Output{reader, queue, numRecords}, opts...)
	return o.Output(0), o.Output(1)
}

// ReaderNumRecordsProducedV2 returns how many records a reader has given out.
// The result is an int64 scalar; it waits while the reader reads. A handle
// without a reader is refused with NOT_FOUND in the step, the handle of
// another kind of resource with INVALID_ARGUMENT.
func ReaderNumRecordsProducedV2(reader tf.Output, opts ...tf.Option) tf.Output {
	return tf.Apply(nil, "ReaderNumRecordsProducedV2", []tf.Output{reader}, opts...).Output(0)
}

// ReaderNumWorkUnitsCompletedV2 returns how much work a reader has finished.
// The result is an int64 scalar; it waits while the reader reads. A handle
// without a reader is refused with NOT_FOUND in the step, the handle of
// another kind of resource with INVALID_ARGUMENT.
func ReaderNumWorkUnitsCompletedV2(reader tf.Output, opts ...tf.Option) tf.Output {
	return tf.Apply(nil, "ReaderNumWorkUnitsCompletedV2", []tf.Output{reader}, opts...).Output(0)
}

// ReaderSerializeStateV2 returns how far a reader is, if it is one of whole
// files or of the work itself; other readers have no state that can be saved.
// They are refused with UNIMPLEMENTED in the step. The result is a scalar
// string, TensorFlow's message ReaderBaseState.
func ReaderSerializeStateV2(reader tf.Output, opts ...tf.Option) tf.Output {
	return tf.Apply(nil, "ReaderSerializeStateV2", []tf.Output{reader}, opts...).Output(0)
}

// ReaderRestoreStateV2 brings a reader to a state that was taken before. A
// reader without such a state is refused with UNIMPLEMENTED in the step, a
// state that is no scalar, does not parse or contradicts itself with
// INVALID_ARGUMENT.
func ReaderRestoreStateV2(reader, state tf.Output, opts ...tf.Option) *tf.Operation {
	return tf.Apply(nil, "ReaderRestoreStateV2", []tf.Output{reader, state}, opts...)
}

// ReaderResetV2 makes a reader as new. The file that it reads is closed, and
// its counts are 0. A handle without a reader is refused with NOT_FOUND in the
// step, the handle of another kind of resource with INVALID_ARGUMENT.
func ReaderResetV2(reader tf.Output, opts ...tf.Option) *tf.Operation {
	return tf.Apply(nil, "ReaderResetV2", []tf.Output{reader}, opts...)
}
