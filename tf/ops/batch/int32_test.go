package batch_test

import (
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/eager"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/ops/batch"
)

// TestNumbersBeyondInt32 are refused, as in TensorFlow 2.21.
func TestNumbersBeyondInt32(t *testing.T) {
	const most = 1 << 62
	g := eager.New()
	x := ops.Const(g, []float32{1, 2}, 2)
	for name, o := range map[string]batch.Opts{
		"num_batch_threads":    {Threads: most, MaxSize: 2},
		"max_batch_size":       {Threads: 1, MaxSize: most},
		"max_enqueued_batches": {Threads: 1, MaxSize: 2, MaxEnqueued: most},
		"batch_timeout_micros": {Threads: 1, MaxSize: 2, TimeoutMicros: most},
		"allowed_batch_sizes":  {Threads: 1, MaxSize: most, AllowedSizes: []int{most}},
	} {
		_, index, _ := batch.Batch([]tf.Output{x}, o, 0, tf.Attr("shared_name", name))
		if v, err := index.Value(); tf.CodeOf(err) != tf.InvalidArgument {
			t.Errorf("%s: got %v, %v, want INVALID_ARGUMENT", name, v, err)
		}
	}
	late := batch.Unbatch(x, ops.Const(g, []int64{7, 0, 2}, 1, 3), ops.ConstValue(g, core.Scalar[int64](7)), most)
	if v, err := late.Value(); tf.CodeOf(err) != tf.InvalidArgument {
		t.Errorf("timeout_micros: got %v, %v, want INVALID_ARGUMENT", v, err)
	}
}
