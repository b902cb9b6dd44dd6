package direct

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/ops"
)

// randomGraph is a graph of operations drawn at random: constants of which
// many are equal, chains and diamonds, shapes, orders, on several devices.
type randomGraph struct {
	*rand.Rand
	g     *tf.Graph
	feeds map[tf.Output]*core.Tensor
	vals  []tf.Output // float32, of the shapes [], [3] and [2,3]
	preds []tf.Output
	all   []tf.Output
}

func newRandomGraph(seed uint64, nodes, devices int) *randomGraph {
	r := &randomGraph{Rand: rand.New(rand.NewPCG(seed, 1)), g: tf.NewGraph(), feeds: map[tf.Output]*core.Tensor{}}
	r.feed(core.Shape{}, core.Shape{})
	r.feed(core.Shape{2, 3}, nil)
	r.feed(core.Shape{3}, core.Shape{-1})
	for _, v := range []bool{false, true} {
		p := ops.Placeholder(r.g, core.Bool, core.Shape{})
		r.feeds[p], r.preds = core.Scalar(v), append(r.preds, p)
	}
	for range nodes {
		r.add(devices)
	}
	return r
}

// feed adds a placeholder of a shape of which the graph knows but a part.
func (r *randomGraph) feed(s, known core.Shape) {
	t := core.NewTensor(core.Float32, s)
	for i := range core.Data[float32](t) {
		core.Data[float32](t)[i] = r.Float32()
	}
	x := ops.Placeholder(r.g, core.Float32, known)
	r.feeds[x] = t
	r.keep(x, true)
}

func (r *randomGraph) keep(x tf.Output, val bool) {
	if val {
		r.vals = append(r.vals, x)
	}
	r.all = append(r.all, x)
}

func (r *randomGraph) pick() tf.Output { return r.vals[r.IntN(len(r.vals))] }

// add adds an operation, perhaps on a device of its own, perhaps after others.
func (r *randomGraph) add(devices int) {
	spec := ""
	if r.IntN(3) > 0 {
		spec = fmt.Sprintf("/device:CPU:%d", r.IntN(devices))
	}
	var after []*tf.Operation
	if r.IntN(5) == 0 {
		after = append(after, r.pick().Operation())
		if r.IntN(3) == 0 {
			after = []*tf.Operation{ops.NoOp(r.g, tf.After(after...))}
		}
	}
	r.g.Device(spec, func() {
		r.g.ControlDependencies(after, r.operation)
	})
}

func (r *randomGraph) operation() {
	x, y := r.pick(), r.pick()
	switch r.IntN(14) {
	case 0:
		r.keep(ops.Scalar(r.g, float32(r.IntN(3))), true)
	case 1:
		r.keep(ops.Const(r.g, []float32{1, 2, float32(r.IntN(2))}), true)
	case 2:
		r.keep(ops.AddV2(x, y), true)
	case 3:
		r.keep(ops.Mul(x, y), true)
	case 4:
		r.keep(ops.Neg(x), true)
	case 5, 6:
		r.keep(ops.Identity(x), true)
	case 7:
		r.keep(ops.Shape(x), false)
	case 8:
		r.keep(ops.Cast(ops.Size(x), core.Float32), true)
	case 9:
		r.keep(ops.Cast(ops.Rank(x), core.Float32), true)
	case 10:
		r.keep(ops.Reshape(x, ops.Shape(x)), true)
	case 11:
		both := ops.IdentityN([]tf.Output{x, y})
		r.keep(both[0], true)
		r.keep(both[1], true)
	case 12, 13:
		r.keep(r.choice(x, y), true)
	}
}

// choice computes one of two branches, in which shapes and orders hang on what
// may be dead.
func (r *randomGraph) choice(x, y tf.Output) tf.Output {
	p := r.preds[r.IntN(len(r.preds))]
	f, t := ops.Switch(x, p)
	_, u := ops.Switch(y, p)
	i := ops.Identity(f)
	one := ops.Scalar[float32](r.g, 1, tf.After(i.Operation()))
	no := ops.Mul(ops.Cast(ops.Size(ops.Neg(i)), core.Float32), one)
	yes := ops.AddV2(ops.Reshape(t, ops.Shape(t)), ops.Identity(u))
	out, _ := ops.Merge([]tf.Output{no, yes})
	return out
}

// wanted draws what to fetch.
func (r *randomGraph) wanted() []tf.Output {
	seen, out := map[tf.Output]bool{}, []tf.Output(nil)
	for range 1 + r.IntN(5) {
		x := r.all[r.IntN(len(r.all))]
		if _, fed := r.feeds[x]; !fed && !seen[x] {
			out = append(out, x)
		}
		seen[x] = true
	}
	return out
}

// TestPassesChangeNothing: whatever is optimized and on however many devices,
// results are equal bit for bit.
func TestPassesChangeNothing(t *testing.T) {
	for seed := range uint64(60) {
		r := newRandomGraph(seed, 40, 3)
		plain, all := open(t, r.g, 3, "all"), open(t, r.g, 3)
		for range 4 {
			want := r.wanted()
			if len(want) == 0 {
				continue
			}
			a, err := fetch(t.Context(), plain, r.feeds, want...)
			if err != nil {
				t.Fatalf("seed %d: %v", seed, err)
			}
			b, err := fetch(t.Context(), all, r.feeds, want...)
			if err != nil {
				t.Fatalf("seed %d, optimized: %v", seed, err)
			}
			for i := range a {
				if !core.TensorsEqual(a[i], b[i]) {
					t.Errorf("seed %d: %v is %v, optimized %v", seed, want[i], a[i], b[i])
				}
			}
		}
	}
}
