package ops_test

import (
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/ops"
)

// TestVariableOfNoInput: a kernel that asks for a variable that it does not have fails.
func TestVariableOfNoInput(t *testing.T) {
	for _, c := range []*core.OpContext{nil, {}, {In: make([]core.Slot, 1)}} {
		for _, i := range []int{-1, 0, 1} {
			if ref, err := ops.VariableAt(c, i); ref != nil || tf.CodeOf(err) != tf.Internal {
				t.Errorf("input %d: %v, %v", i, ref, err)
			}
		}
	}
}
