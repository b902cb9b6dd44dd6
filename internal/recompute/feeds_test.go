package recompute_test

import (
	"slices"
	"sync"
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/session"
)

// TestFedWithin feeds and fetches values in the midst of a block, in steps of one session
// at once: gradients use what was fed.
func TestFedWithin(t *testing.T) {
	g := tf.NewGraph()
	x := draw(g)
	var a, b, y tf.Output
	g.Recompute(func() {
		a = ops.Tanh(x, tf.Name("a"))
		b = square("b", a)
		y = square("c", b)
	})
	dx := gradient(t, ops.Tanh(y).Sum(), x)
	fed := core.NewTensor(tf.Float32, core.Shape{200, 200})
	for i := range core.Data[float32](fed) {
		core.Data[float32](fed)[i] = float32(i%7) / 7
	}
	for name, feeds := range map[string]session.Feeds{"none": nil, "a": {a: (*tf.Tensor)(fed)}, "b": {b: (*tf.Tensor)(fed)}} {
		run := func(s *session.Session) []float32 {
			out, err := s.Run(t.Context(), feeds, dx, a, b)
			if err != nil {
				t.Error(err)
				return nil
			}
			return slices.Concat(tf.Data[float32](out[0]), tf.Data[float32](out[1]), tf.Data[float32](out[2]))
		}
		want := run(opened(t, g, off))
		for _, cfg := range []session.Config{{}, {SaveMemory: true}} {
			s := opened(t, g, cfg)
			first := run(s) // the seed's first numbers
			if !slices.Equal(first, want) {
				t.Errorf("%s fed: values differ", name)
			}
			var group sync.WaitGroup
			for range 4 {
				group.Go(func() {
					for range 5 {
						run(s)
					}
				})
			}
			group.Wait()
		}
	}
}
