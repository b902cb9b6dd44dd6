package io

import "github.com/gorge-tf/gorge/tf"

// ReaderReadV2 returns the next record of a reader, which takes work from a
// queue of strings when it has none.
func ReaderReadV2(reader, queue tf.Output, opts ...tf.Option) (key, value tf.Output) {
	o := tf.Apply(nil, "ReaderReadV2", []tf.Output{reader, queue}, opts...)
	return o.Output(0), o.Output(1)
}

// ReaderReadUpToV2 returns at least one and at most numRecords records, an
// int64 scalar. There are fewer when a piece of work ends.
func ReaderReadUpToV2(reader, queue, numRecords tf.Output, opts ...tf.Option) (keys, values tf.Output) {
	o := tf.Apply(nil, "ReaderReadUpToV2", []tf.Output{reader, queue, numRecords}, opts...)
	return o.Output(0), o.Output(1)
}

// ReaderNumRecordsProducedV2 returns how many records a reader has given out.
func ReaderNumRecordsProducedV2(reader tf.Output, opts ...tf.Option) tf.Output {
	return tf.Apply(nil, "ReaderNumRecordsProducedV2", []tf.Output{reader}, opts...).Output(0)
}

// ReaderNumWorkUnitsCompletedV2 returns how much work a reader has finished.
func ReaderNumWorkUnitsCompletedV2(reader tf.Output, opts ...tf.Option) tf.Output {
	return tf.Apply(nil, "ReaderNumWorkUnitsCompletedV2", []tf.Output{reader}, opts...).Output(0)
}

// ReaderSerializeStateV2 returns how far a reader is, if it is one of whole
// files or of the work itself; other readers have no state that can be saved.
func ReaderSerializeStateV2(reader tf.Output, opts ...tf.Option) tf.Output {
	return tf.Apply(nil, "ReaderSerializeStateV2", []tf.Output{reader}, opts...).Output(0)
}

// ReaderRestoreStateV2 brings a reader to a state that was taken before.
func ReaderRestoreStateV2(reader, state tf.Output, opts ...tf.Option) *tf.Operation {
	return tf.Apply(nil, "ReaderRestoreStateV2", []tf.Output{reader, state}, opts...)
}

// ReaderResetV2 makes a reader as new.
func ReaderResetV2(reader tf.Output, opts ...tf.Option) *tf.Operation {
	return tf.Apply(nil, "ReaderResetV2", []tf.Output{reader}, opts...)
}
