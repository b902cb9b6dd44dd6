package vars_test

import (
	"slices"
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/vars"
)

// TestAxesOfPartitioners: a negative axis counts from the end, as in TensorFlow.
func TestAxesOfPartitioners(t *testing.T) {
	for axis, want := range map[int][]int{0: {3, 1}, -2: {3, 1}, 1: {1, 3}, -1: {1, 3}, 2: {1, 1}, -3: {1, 1}} {
		for name, cut := range map[string]vars.Partitioner{
			"FixedSize": vars.FixedSize(3, axis), "AxisSize": vars.AxisSize(48, axis, 0), "MinMax": vars.MinMax(3, axis, 8),
		} {
			if got := cut(tf.Shape{6, 6}, tf.Float32); !slices.Equal(got, want) {
				t.Errorf("%s along axis %d: %v, want %v", name, axis, got, want)
			}
		}
	}
}
