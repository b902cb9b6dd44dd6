package direct

import (
	"context"
	"math/rand/v2"
	"testing"

	"github.com/gorge-tf/gorge/internal/pass"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/pb"
)

// shapedLoop is a graph with a loop, drawn at random, whose variables keep their shapes or
// change them: they grow, turn, get other ranks, take the values of one another. What the
// body computes hangs on shapes, so that a shape that is taken for known and is another
// one shows in the results.
type shapedLoop struct {
	*rand.Rand
	g        *tf.Graph
	steps    tf.Output
	outer    []tf.Output // what the body reads from outside
	feeds    map[tf.Output]*core.Tensor
	fetches  []tf.Output
	constant tf.Output
}

func newShapedLoop(seed uint64) *shapedLoop {
	r := &shapedLoop{Rand: rand.New(rand.NewPCG(seed, 7)), g: tf.NewGraph(), feeds: map[tf.Output]*core.Tensor{}}
	r.steps, r.constant = ops.Placeholder(r.g, core.Int32, core.Shape{}), ops.Scalar(r.g, int32(1))
	r.feeds[r.steps] = core.Scalar(int32(r.IntN(5)))
	vars := make([]tf.Output, 2+r.IntN(4))
	for i := range vars {
		vars[i] = r.feed()
	}
	r.outer = []tf.Output{r.feed(), ops.Const(r.g, []float32{1, 2, 3, 4, 5, 6}, 2, 3), ops.Const(r.g, []float32{0.5})}
	r.fetches = r.loop(vars, r.steps, 2)
	return r
}

// feed adds a value of which the graph knows the shape, some of it, or nothing.
func (r *shapedLoop) feed() tf.Output {
	s := core.Shape{1 + r.IntN(3), 1 + r.IntN(3)}[:1+r.IntN(2)]
	t := core.NewTensor(core.Float32, s)
	for i := range core.Data[float32](t) {
		core.Data[float32](t)[i] = float32(r.IntN(64)) / 64
	}
	known := s.Clone()
	switch r.IntN(4) {
	case 0:
		known = nil
	case 1:
		known[r.IntN(len(known))] = -1
	}
	x := ops.Placeholder(r.g, core.Float32, known)
	r.feeds[x] = t
	return tf.Apply(r.g, "EnsureShape", []tf.Output{x}, tf.Attr("shape", known)).Output(0) // a feed by itself may have any
}

// loop adds a loop. Its variables may have any shape in each iteration.
func (r *shapedLoop) loop(vars []tf.Output, steps tf.Output, depth int) []tf.Output {
	counter := ops.Scalar(r.g, int32(0))
	all := append([]tf.Output{counter}, vars...)
	shapes := make([]core.Shape, len(all))
	shapes[0] = core.Shape{}
	out := tf.While(all,
		func(v []tf.Output) tf.Output { return ops.Less(v[0], steps) },
		func(v []tf.Output) []tf.Output {
			next := []tf.Output{ops.AddV2(v[0], r.constant)}
			for k := range v[1:] {
				next = append(next, r.next(v, 1+k, depth))
			}
			return next
		}, tf.WhileOpts{ShapeInvariants: shapes, NoBackProp: true})
	return out[1:]
}

// next computes the next value of variable k.
func (r *shapedLoop) next(v []tf.Output, k, depth int) tf.Output {
	x, y := v[k], v[1+r.IntN(len(v)-1)]
	out := r.outer[r.IntN(len(r.outer))]
	switch r.IntN(15) {
	case 0, 1:
		return x
	case 2:
		return y
	case 3, 4:
		return ops.AddV2(ops.Mul(x, ops.Scalar(r.g, float32(0.5))), r.told(y))
	case 5:
		return ops.AddV2(x, r.told(out)) // all but the sum is the same in each iteration
	case 6:
		return ops.ConcatV2([]tf.Output{x, ops.Mul(x, r.told(y))}, ops.Scalar(r.g, int32(0)))
	case 7:
		return ops.Reshape(x, []int{-1})
	case 8:
		return ops.Transpose(ops.AddV2(x, r.told(y)), ops.Sub(ops.Sub(ops.Rank(x), ops.Scalar(r.g, int32(1))), r.axes(x)))
	case 9:
		return ops.Fill(ops.Shape(y), r.told(x))
	case 10:
		return ops.ExpandDims(x, 0)
	case 11:
		return ops.Slice(x, ops.ZerosLike(ops.Shape(x)), ops.Maximum(ops.Sub(ops.Shape(x), r.constant), r.constant))
	case 12:
		return ops.BroadcastTo(ops.AddV2(ops.Reshape(r.told(x), []int{1}), r.told(out)), ops.ConcatV2([]tf.Output{ops.Reshape(r.constant, []int{1}), ops.Shape(out)}, ops.Scalar(r.g, int32(0))))
	case 13:
		return tf.Cond(ops.Less(v[0], r.constant), func() []tf.Output { return []tf.Output{ops.AddV2(x, r.told(y))} }, func() []tf.Output { return []tf.Output{ops.Neg(y)} })[0]
	}
	if depth == 0 {
		return ops.Tanh(x)
	}
	return r.loop([]tf.Output{x, y}, ops.Minimum(v[0], ops.Scalar(r.g, int32(2))), 0)[r.IntN(2)]
}

// axes returns the numbers of the dimensions of x.
func (r *shapedLoop) axes(x tf.Output) tf.Output {
	return ops.Range(r.g, int32(0), ops.Rank(x), int32(1))
}

// told returns a scalar that tells the shape of x, and the sum of its elements.
func (r *shapedLoop) told(x tf.Output) tf.Output {
	sum := ops.Sum(x, r.axes(x))
	size := ops.Cast(ops.Size(x), core.Float32)
	rank := ops.Cast(ops.Rank(x), core.Float32)
	dims := ops.Cast(ops.Sum(ops.Mul(ops.Shape(x), ops.Shape(x)), []int{0}), core.Float32)
	all := ops.AddV2(ops.AddV2(size, ops.Mul(rank, ops.Scalar(r.g, float32(0.25)))), ops.AddV2(sum, dims))
	return ops.Mul(all, ops.Scalar(r.g, float32(1.0/1024)))
}

// traced runs a step whose loops run node by node.
func traced(ctx context.Context, s *Session, feeds map[tf.Output]*core.Tensor, outs []tf.Output) ([]*core.Tensor, error) {
	sig, args := pass.Signature{}, []*core.Tensor(nil)
	for x, v := range feeds {
		sig.Feeds, args = append(sig.Feeds, x.Name()), append(args, v)
	}
	for _, y := range outs {
		sig.Fetches = append(sig.Fetches, y.Name())
	}
	out, _, err := s.RunOptions(ctx, sig, args, &pb.RunOptions{TraceLevel: pb.RunOptions_SOFTWARE_TRACE})
	return out, err
}

// TestShapesInLoops: loops whose variables change their shapes give the same bits as
// written and optimized, by their plans and node by node.
func TestShapesInLoops(t *testing.T) {
	failed, ran := 0, 0
	for seed := range uint64(400) {
		r := newShapedLoop(seed)
		written, optimized := open(t, r.g, 1, "all"), open(t, r.g, 1)
		want, refused := traced(t.Context(), written, r.feeds, r.fetches)
		ways := map[string]func() ([]*core.Tensor, error){
			"planned":           func() ([]*core.Tensor, error) { return fetch(t.Context(), written, r.feeds, r.fetches...) },
			"optimized":         func() ([]*core.Tensor, error) { return fetch(t.Context(), optimized, r.feeds, r.fetches...) },
			"optimized again":   func() ([]*core.Tensor, error) { return fetch(t.Context(), optimized, r.feeds, r.fetches...) },
			"optimized, traced": func() ([]*core.Tensor, error) { return traced(t.Context(), optimized, r.feeds, r.fetches) },
		}
		for name, run := range ways {
			got, err := run()
			if (err != nil) != (refused != nil) {
				t.Fatalf("seed %d, %s: %v, as written: %v", seed, name, err, refused)
			}
			for i := range want {
				if !core.TensorsEqual(got[i], want[i]) {
					t.Errorf("seed %d, %s: %v is %v, as written %v", seed, name, r.fetches[i], got[i], want[i])
				}
			}
		}
		if ran++; refused != nil {
			failed++
		}
	}
	if failed > ran/2 {
		t.Errorf("%d of %d loops fail, which shows little", failed, ran)
	}
}
