package io_test

import (
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/optest"
)

// The first generation of the ops differs in its handles only.
func init() {
	const removed = "TensorFlow has removed it from graphs of version 26 on"
	refused := map[string]string{"IdentityReader": removed, "TextLineReader": removed, "FixedLengthRecordReader": removed}
	firstReader := func(op, reader string, attrs []tf.Option, f func(r, q tf.Output, put *tf.Operation) []tf.Output) {
		optest.Add(optest.Sample{
			Op: op, In: []*core.Tensor{optest.Vec(lines)}, Types: optest.OnlyOwn, NoGolden: refused[op], GraphOnly: "references to strings are made by graphs",
			F: func(g *tf.Graph, in []tf.Output) []tf.Output {
				r := tf.Apply(g, reader, nil, attrs...).Output(0)
				types, shapes := tf.Attr("component_types", []tf.DType{tf.String}), tf.Attr("shapes", []tf.Shape{{}})
				q := tf.Apply(g, "FIFOQueue", nil, types, shapes).Output(0)
				put := tf.Apply(nil, "QueueEnqueueMany", []tf.Output{q, in[0]}, tf.After(write(g, lines, content)))
				return f(r, q, put)
			},
		})
	}
	read := func(r, q tf.Output, put *tf.Operation) []tf.Output {
		return tf.Apply(nil, "ReaderRead", []tf.Output{r, q}, tf.After(put)).Outputs()
	}
	for op, attrs := range map[string][]tf.Option{
		"WholeFileReader": nil, "IdentityReader": nil, "TextLineReader": {tf.Attr("skip_header_lines", 2)},
		"FixedLengthRecordReader": {tf.Attr("record_bytes", 4)},
	} {
		firstReader(op, op, attrs, read)
	}
	optest.Unsampled("TFRecordReader", "it is the second generation's reader under another handle, and the file of the samples is a text")
	firstReader("ReaderRead", "WholeFileReader", nil, read)
	firstReader("ReaderReadUpTo", "WholeFileReader", nil, func(r, q tf.Output, put *tf.Operation) []tf.Output {
		return tf.Apply(nil, "ReaderReadUpTo", []tf.Output{r, q, ops.Scalar(r.Graph(), int64(2))}, tf.After(put)).Outputs()
	})
	// after is a sample of an op on a reader that has read something.
	after := func(op string, f func(r tf.Output, read tf.Option) tf.Output) {
		firstReader(op, "WholeFileReader", nil, func(r, q tf.Output, put *tf.Operation) []tf.Output {
			return []tf.Output{f(r, tf.After(read(r, q, put)[0].Operation()))}
		})
	}
	ask := func(op string) func(r tf.Output, read tf.Option) tf.Output {
		return func(r tf.Output, read tf.Option) tf.Output { return tf.Apply(nil, op, []tf.Output{r}, read).Output(0) }
	}
	for _, op := range []string{"ReaderNumRecordsProduced", "ReaderNumWorkUnitsCompleted", "ReaderSerializeState"} {
		after(op, ask(op))
	}
	after("ReaderReset", func(r tf.Output, read tf.Option) tf.Output {
		return ask("ReaderNumRecordsProduced")(r, tf.After(tf.Apply(nil, "ReaderReset", []tf.Output{r}, read)))
	})
	after("ReaderRestoreState", func(r tf.Output, read tf.Option) tf.Output {
		state := ask("ReaderSerializeState")(r, read)
		restored := tf.Apply(nil, "ReaderRestoreState", []tf.Output{r, state})
		return ask("ReaderNumWorkUnitsCompleted")(r, tf.After(restored))
	})
}
