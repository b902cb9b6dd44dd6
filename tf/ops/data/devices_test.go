package data_test

import (
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/optest"
)

// dealt is a sample in which an iterator deals numbers out to two devices.
func dealt(name, op string, shards ...int32) optest.Sample {
	return oneOf(name, func(g *tf.Graph, _ pipe) []tf.Output {
		p := numbers(g, 5)
		opts := append(p.about(), tf.Attr("devices", []string{"/cpu:0", "/cpu:0"}))
		if op == "MultiDeviceIterator" {
			opts = append(opts, tf.Attr("shared_name", ""), tf.Attr("container", ""))
		}
		it := tf.Apply(g, op, nil, opts...).Output(0)
		begun := tf.Apply(nil, "MultiDeviceIteratorInit", []tf.Output{p.d, it, ops.Scalar(g, int64(4))}).Output(0)
		var out []tf.Output
		after := begun.Operation()
		for _, shard := range shards {
			after = tf.Apply(nil, "MultiDeviceIteratorGetNextFromShard", []tf.Output{it, ops.Scalar(g, shard), begun}, append(p.about(), tf.After(after))...)
			out = append(out, after.Output(0))
		}
		return out
	})
}

func init() {
	optest.Add(
		dealt("MultiDeviceIterator", "MultiDeviceIterator", 0, 1, 0), dealt("AnonymousMultiDeviceIterator", "AnonymousMultiDeviceIterator", 1, 1, 0),
		dealt("AnonymousMultiDeviceIteratorV3", "AnonymousMultiDeviceIteratorV3", 0, 0, 0), dealt("MultiDeviceIteratorGetNextFromShard", "MultiDeviceIterator", 1, 0),
	)
	optest.Unsampled("MultiDeviceIteratorInit", "its result tells how often it was run; the samples of what takes elements run it")
	for _, op := range []string{"DeleteMultiDeviceIterator", "MultiDeviceIteratorToStringHandle", "MultiDeviceIteratorFromStringHandle"} {
		optest.Unsampled(op, "its result tells a process from another, see those of iterators for one device")
	}
}
