package collective_test

import (
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/ops/collective"
)

// What the members of a large group send each other is not mixed up, although the keys
// of TensorFlow are the same from 1 to 11 and from 11 to 1.
func TestAllToAllInLargeGroups(t *testing.T) {
	const n = 13
	shape := tf.Shape{n}
	got, err := onEach(t, n, func(g *tf.Graph, i int) tf.Output {
		return collective.AllToAllV2(of(g, i, shape, tf.Float32), keys(g, n, 1, 1))
	})
	check(t, "AllToAllV2", got, err, func(i int) (want []float32) {
		for from := range n {
			want = append(want, value(from, shape)[i])
		}
		return want
	})
}
