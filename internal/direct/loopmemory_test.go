package direct

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/gorge-tf/gorge/internal/pass"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/pb"
)

// scan is a loop drawn at random, as recurrent networks have it: a state, rows that are read and
// written by the number of the iteration, and a value whose size changes on its way.
type scan struct {
	*rand.Rand
	g                 *tf.Graph
	table, w, growing tf.Output
	feeds             map[tf.Output]*core.Tensor
	fetches           []tf.Output
}

const scanRows, scanWidth = 24, 8

func newScan(seed uint64, iterations int) *scan {
	s := &scan{Rand: rand.New(rand.NewPCG(seed, 5)), g: tf.NewGraph(), feeds: map[tf.Output]*core.Tensor{}}
	s.table, s.w = s.feed(scanRows, scanWidth), s.feed(scanWidth, 4*scanWidth)
	state, rows := s.feed(1, scanWidth), s.feed(scanRows, scanWidth)
	s.growing = s.feed(1, scanWidth)
	i := ops.Scalar[int32](s.g, 0)
	end := tf.While([]tf.Output{i, state, state, rows, s.growing},
		func(v []tf.Output) tf.Output { return ops.Less(v[0], ops.Scalar(s.g, int32(iterations))) },
		func(v []tf.Output) []tf.Output { return s.body(v, true) })
	s.fetches = end[1:]
	if d, err := tf.Differentiate(tf.GradientOptions{Ys: []tf.Output{ops.Sum(end[1], []int{0, 1}), ops.Sum(end[3], []int{0, 1})}, Xs: []tf.Output{s.w, state}}); err == nil && seed%2 == 0 {
		for _, dx := range d {
			if !dx.IsZero() {
				s.fetches = append(s.fetches, dx.Output())
			}
		}
	}
	return s
}

// feed adds a placeholder for a matrix. The graph knows its rank only.
func (s *scan) feed(rows, columns int) tf.Output {
	t := core.NewTensor(core.Float32, core.Shape{rows, columns})
	for i := range core.Data[float32](t) {
		core.Data[float32](t)[i] = float32(s.NormFloat64())
	}
	x := ops.Placeholder(s.g, tf.Float32, tf.Shape{-1, -1})
	s.feeds[x] = t
	return x
}

// body returns the next values of the counter, two states, the rows and what changes its size.
func (s *scan) body(v []tf.Output, outer bool) []tf.Output {
	i, h, c, rows, x := v[0], v[1], v[2], v[3], v[4]
	at := ops.Reshape(i, []int{1})
	row := ops.Gather(s.table, at, 0)
	z := ops.MatMul(ops.AddV2(h, row), s.w)
	var gates [4]tf.Output
	for k := range gates {
		gates[k] = ops.Slice(z, []int{0, scanWidth * s.IntN(4)}, []int{1, scanWidth})
	}
	c = ops.AddV2(ops.Mul(ops.Sigmoid(gates[0]), c), ops.Tanh(gates[1]))
	h = ops.Mul(ops.Sigmoid(gates[2]), c)
	if s.IntN(2) == 0 {
		h, c = c, ops.Tanh(ops.AddV2(h, gates[3]))
	}
	last := ops.Slice(x, []int{0, 0}, ops.Pack([]tf.Output{ops.FloorMod(i, ops.Scalar[int32](s.g, int32(1+s.IntN(3)))), ops.Scalar[int32](s.g, -1)}))
	x = ops.Concat(0, []tf.Output{h, last, row})
	if s.IntN(2) == 0 {
		next := ops.Reshape(ops.AddV2(i, ops.Scalar[int32](s.g, 1)), []int{1})
		rows = ops.TensorStridedSliceUpdate(rows, at, next, ops.Const(s.g, []int32{1}), ops.Slice(x, []int{0, 0}, []int{1, -1}))
	}
	if outer && s.IntN(2) == 0 {
		inner := tf.While([]tf.Output{i, h, c, rows, x},
			func(v []tf.Output) tf.Output { return ops.Less(v[0], ops.Scalar[int32](s.g, 3)) },
			func(v []tf.Output) []tf.Output { return s.body(v, false) })
		h, c, rows, x = inner[1], inner[2], inner[3], inner[4]
	}
	return []tf.Output{ops.AddV2(i, ops.Scalar[int32](s.g, 1)), h, c, rows, x}
}

// run runs the loop by its plan or, traced, node by node.
func (s *scan) run(t *testing.T, session *Session, traced bool) ([]*core.Tensor, error) {
	t.Helper()
	if !traced {
		return fetch(t.Context(), session, s.feeds, s.fetches...)
	}
	sig, args := pass.Signature{}, []*core.Tensor(nil)
	for x, v := range s.feeds {
		sig.Feeds, args = append(sig.Feeds, x.Name()), append(args, v)
	}
	for _, y := range s.fetches {
		sig.Fetches = append(sig.Fetches, y.Name())
	}
	out, _, err := session.RunOptions(t.Context(), sig, args, &pb.RunOptions{TraceLevel: pb.RunOptions_SOFTWARE_TRACE})
	return out, err
}

// TestScansAtRandom: a loop that keeps memory with its slots, for sizes that stay and that
// change, has the bits of its nodes run one by one, in each of several steps.
func TestScansAtRandom(t *testing.T) {
	for seed := range uint64(30) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			s := newScan(seed, int(seed)%12)
			plain, all := open(t, s.g, 1, "all"), open(t, s.g, 1)
			want, err := s.run(t, plain, true)
			if err != nil {
				t.Fatal(err)
			}
			for k := range 3 {
				for name, session := range map[string]*Session{"plain": plain, "optimized": all} {
					got, err := s.run(t, session, false)
					if err != nil {
						t.Fatal(err)
					}
					for i := range want {
						if !core.TensorsEqual(got[i], want[i]) {
							t.Errorf("run %d, %s: %v is %v, node by node %v", k, name, s.fetches[i], got[i], want[i])
						}
					}
				}
			}
		})
	}
}

// TestScansFail: an error amid a loop is that of its node, as if it were run node by node, and
// the session goes on afterwards.
func TestScansFail(t *testing.T) {
	for seed := range uint64(6) {
		s := newScan(seed, scanRows+3) // there are no more rows to be read
		session := open(t, s.g, 1)
		_, want := s.run(t, session, true)
		for range 3 {
			_, err := s.run(t, session, false)
			if err == nil || want == nil || core.AsError(err).Node != core.AsError(want).Node || core.CodeOf(err) != core.InvalidArgument {
				t.Errorf("seed %d: got %v, node by node %v", seed, err, want)
			}
		}
	}
}
