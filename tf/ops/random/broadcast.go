package random

import (
	"errors"
	"strings"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

// broadcastInputs returns n inputs from the given one on, broadcast to the shape
// that all of them have together.
func broadcastInputs(c *core.OpContext, from, n int) (values [][]float64, s tf.Shape, err error) {
	s = tf.Shape{}
	var texts []string
	ok := true
	for i := range n {
		in := c.Input(from + i).Shape()
		texts = append(texts, in.String())
		if ok {
			s, ok = tf.BroadcastShapes(s, in)
		}
	}
	if !ok {
		return nil, nil, errors.New(strings.Join(texts, " vs. "))
	}
	if err := core.CheckSize(tf.Float64, s); err != nil {
		return nil, nil, err
	}
	for i := range n {
		t := c.Input(from + i)
		values = append(values, broadcast(numbers(t), t.Shape(), s))
	}
	return values, s, nil
}

// broadcast repeats the elements of v, of one shape, so that they have another.
func broadcast(v []float64, from, to tf.Shape) []float64 {
	if from.Equal(to) {
		return v
	}
	out := core.Make[float64](to.NumElements())
	for i := range out {
		at, step, rest := 0, 1, i
		for d := 1; d <= len(from); d++ {
			size := from[len(from)-d]
			at += rest % to[len(to)-d] % size * step
			step, rest = step*size, rest/to[len(to)-d]
		}
		out[i] = v[at]
	}
	return out
}
