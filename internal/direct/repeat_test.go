package direct

import (
	"math/rand/v2"
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/ops"
)

// repeats is a graph of repeated tensors and of elementwise operations that read them.
type repeats struct {
	*rand.Rand
	g     *tf.Graph
	feeds map[tf.Output]*core.Tensor
	vals  []tf.Output // of rank 2 or less, which broadcast to [4, 5]
}

func newRepeats(seed uint64) *repeats {
	r := &repeats{Rand: rand.New(rand.NewPCG(seed, 2)), g: tf.NewGraph(), feeds: map[tf.Output]*core.Tensor{}}
	for _, s := range []core.Shape{{1, 1}, {4, 1}, {1, 5}, {4, 5}, {5}, {1}, {}} {
		known := s.Clone()
		for i := range known {
			if r.IntN(4) == 0 {
				known[i] = -1
			}
		}
		x := ops.Placeholder(r.g, core.Float32, known)
		t := core.NewTensor(core.Float32, s)
		for i := range core.Data[float32](t) {
			core.Data[float32](t)[i] = []float32{r.Float32(), -r.Float32(), 0, 2}[r.IntN(4)]
		}
		r.feeds[x], r.vals = t, append(r.vals, x)
	}
	for range 12 {
		r.add()
	}
	return r
}

func (r *repeats) pick() tf.Output { return r.vals[r.IntN(len(r.vals))] }

// filled returns x in the shape [4, 5], repeated in one of several ways.
func (r *repeats) filled(x tf.Output) tf.Output {
	s := x.Shape()
	if len(s) != 2 || !s.Known() {
		return ops.BroadcastTo(x, []int{4, 5})
	}
	switch r.IntN(3) {
	case 0:
		return ops.BroadcastTo(x, []int{4, 5})
	case 1:
		return ops.Tile(x, []int{4 / s[0], 5 / s[1]})
	}
	return ops.Tile(ops.Tile(x, []int{4 / s[0], 1}), []int{1, 5 / s[1]})
}

func (r *repeats) add() {
	x, y := r.pick(), r.pick()
	switch r.IntN(9) {
	case 0, 1:
		x = r.filled(x)
	case 2:
		x = ops.Div(r.filled(x), ops.Scalar(r.g, float32(3)))
	case 3:
		x = ops.Mul(r.filled(x), y)
	case 4:
		x = ops.AddN([]tf.Output{r.filled(x), r.filled(y), ops.Identity(r.filled(r.pick()))})
	case 5:
		x = ops.AddN([]tf.Output{ops.Exp(ops.AddV2(r.vals[3], x)), r.filled(y)})
	case 6:
		x = ops.Sub(y, ops.Neg(r.filled(x)))
	case 7:
		x = ops.SelectV2(ops.Greater(r.filled(x), y), r.filled(x), r.filled(y))
	case 8:
		x = ops.Maximum(ops.Tanh(r.filled(x)), r.filled(y))
	}
	r.vals = append(r.vals, x)
}

// TestRepeatedLateOrNot: whether elementwise nodes broadcast themselves what was
// repeated for them changes no bit and no shape.
func TestRepeatedLateOrNot(t *testing.T) {
	for seed := range uint64(150) {
		r := newRepeats(seed)
		plain, late := open(t, r.g, 1, "arithmetic_optimization", "fusion"), open(t, r.g, 1)
		for range 3 {
			want := make([]tf.Output, 1+r.IntN(3))
			for i := range want {
				want[i] = r.vals[7+r.IntN(len(r.vals)-7)]
			}
			a, err := fetch(t.Context(), plain, r.feeds, want...)
			if err != nil {
				t.Fatalf("seed %d: %v", seed, err)
			}
			b, err := fetch(t.Context(), late, r.feeds, want...)
			if err != nil {
				t.Fatalf("seed %d, repeated late: %v", seed, err)
			}
			for i := range a {
				if !core.TensorsEqual(a[i], b[i]) {
					t.Errorf("seed %d: %v is %v, repeated late %v", seed, want[i], a[i], b[i])
				}
			}
		}
	}
}
