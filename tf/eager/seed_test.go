package eager_test

import (
	"slices"
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/eager"
	"github.com/gorge-tf/gorge/tf/ops"
)

// TestSeedsAreTensorFlows compares with what TensorFlow 2.21 computes eagerly
// after tf.random.set_seed(42): operations with and without seeds of their own, in
// functions too, and again after the seed was set again.
func TestSeedsAreTensorFlows(t *testing.T) {
	g := eager.New()
	two := []int{2}
	uniform := func(opts ...tf.Option) tf.Output { return ops.RandomUniform(g, two, tf.Float32, opts...) }
	normal := func() tf.Output { return ops.RandomStandardNormal(g, two, tf.Float32) }
	f := eager.NewFunc(g, "f", func([]tf.Output, ...any) []tf.Output { return []tf.Output{uniform(), normal()} })
	check := func(x tf.Output, want ...float32) {
		t.Helper()
		if got := tf.Data[float32](value(t, x)); !slices.Equal(got, want) {
			t.Errorf("got %v, want %v", got, want)
		}
	}
	checkFunc := func(want ...float32) {
		t.Helper()
		y := f.Call(nil)
		check(y[0], want[:2]...)
		check(y[1], want[2:]...)
	}
	g.SetSeed(42)
	check(uniform(), 0.6645621, 0.44100678)
	check(normal(), 0.08422458, -0.86090374)
	check(uniform(ops.Seed(7)), 0.8627677, 0.6567626)
	check(uniform(ops.Seed(7)), 0.4587108, 0.16115677)
	checkFunc(0.8354591, 0.9162973, -1.499947, -1.2420495)
	checkFunc(0.95270336, 0.23137903, -0.8944765, 1.0986292)
	check(uniform(), 0.7413678, 0.62854624)

	g.SetSeed(42)
	check(uniform(), 0.6645621, 0.44100678)
	check(uniform(ops.Seed(7)), 0.8627677, 0.6567626)
	checkFunc(0.8354591, 0.9162973, -1.499947, -1.2420495)
	checkFunc(0.95270336, 0.23137903, -0.8944765, 1.0986292)

	g.SetSeed(5) // the function has the seeds that it was traced with
	checkFunc(0.8354591, 0.9162973, -1.499947, -1.2420495)
}

// TestStreamsOutliveTheCache sees that an operation which is computed again and
// again goes on with its numbers, however many others there are.
func TestStreamsOutliveTheCache(t *testing.T) {
	g := eager.New()
	g.SetSeed(1)
	seen := map[float32]bool{}
	for i := range 12 {
		x := tf.Data[float32](value(t, ops.RandomUniform(g, []int{1}, tf.Float32, ops.Seed(7))))[0]
		if seen[x] {
			t.Fatalf("number %d repeats an earlier one", i)
		}
		seen[x] = true
		for range 1000 {
			ops.RandomUniform(g, []int{1}, tf.Float32)
		}
	}
}
