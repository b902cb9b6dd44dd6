package ops

import (
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

// TestNestedLists: lists within lists, as a loop of a few nodes makes them, are added, zeroed
// and sent within bounds. Beyond these the walk through them would overflow the stack, which
// ends a process, or take 2^40 steps.
func TestNestedLists(t *testing.T) {
	nested := func(levels, times int) *core.Tensor {
		x := variantOf(newList(tf.Float32, nil, nil))
		for range levels {
			items := make([]*core.Tensor, times)
			for i := range items {
				items[i] = x
			}
			x = variantOf(newList(tf.Variant, nil, items))
		}
		return x
	}
	for _, c := range []struct {
		levels, times int
		want          core.Code
	}{{500, 1, core.OK}, {2000, 1, core.InvalidArgument}, {3, 3, core.OK}, {40, 2, core.ResourceExhausted}} {
		x := nested(c.levels, c.times)
		if _, err := core.EncodeTensor(x); core.CodeOf(err) != c.want {
			t.Errorf("%d levels of %d: sent with %v", c.levels, c.times, err)
		}
		for name, compute := range map[string]func(*core.OpContext) error{"ZerosLike": variantZeros, "AddN": variantSum} {
			ctx := &core.OpContext{In: []core.Slot{{T: x}, {T: x}}, Out: make([]core.Slot, 1)}
			if err := compute(ctx); core.CodeOf(err) != c.want {
				t.Errorf("%d levels of %d: %s with %v", c.levels, c.times, name, err)
			}
		}
	}
}
