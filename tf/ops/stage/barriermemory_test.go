package stage

import (
	"testing"

	"github.com/gorge-tf/gorge/internal/memory"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

// TestBarrierOutlivesShortMemory: an insertion without memory for its rows leaves the
// barrier as it was, and free for others.
func TestBarrierOutlivesShortMemory(t *testing.T) {
	b, err := newBarrier("b", []tf.DType{tf.Float32, tf.Float32}, nil)
	if err != nil {
		t.Fatal(err)
	}
	values := core.NewTensor(tf.Float32, tf.Shape{1, 1 << 20})
	insert := func() error {
		return core.Guard("an insertion", func() error { return b.insert(t.Context(), []string{"key"}, 0, values) })
	}
	before := memory.SetLimit(1 << 20) // a row takes four times as much
	err = insert()
	memory.SetLimit(before)
	if tf.CodeOf(err) != tf.ResourceExhausted {
		t.Errorf("without memory: %v, want RESOURCE_EXHAUSTED", err)
	}
	if n := b.incompleteSize(); n != 0 {
		t.Errorf("%d keys have come without memory", n)
	}
	if err := insert(); err != nil || b.incompleteSize() != 1 {
		t.Errorf("once there is memory: %v, %d keys", err, b.incompleteSize())
	}
}
