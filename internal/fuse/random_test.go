package fuse_test

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/gorge-tf/gorge/internal/invariants"
	"github.com/gorge-tf/gorge/internal/leaktest"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/session"
)

func TestMain(m *testing.M) { leaktest.Main(m) }

type (
	unary  = func(tf.Output, ...tf.Option) tf.Output
	binary = func(tf.Output, tf.Output, ...tf.Option) tf.Output
)

var unaries = []unary{ops.Neg, ops.Abs, ops.Sign, ops.Square, ops.Sqrt, ops.Rsqrt, ops.Reciprocal, ops.Exp, ops.Log, ops.Log1p, ops.Expm1,
	ops.Tanh, ops.Sigmoid, ops.Sin, ops.Erf, ops.Relu, ops.Relu6, ops.Elu, ops.Selu, ops.Softplus, ops.Softsign, ops.LeakyRelu, ops.Floor, ops.Round, ops.ZerosLike}

var binaries = []binary{ops.AddV2, ops.Sub, ops.Mul, ops.RealDiv, ops.Maximum, ops.Minimum, ops.SquaredDifference, ops.DivNoNan, ops.MulNoNan, ops.Pow, ops.FloorDiv, ops.FloorMod, ops.Xlogy}

var tests = []binary{
	ops.Less, ops.LessEqual, ops.Greater, ops.GreaterEqual,
	func(x, y tf.Output, o ...tf.Option) tf.Output { return ops.Equal(x, y, o...) },
	func(x, y tf.Output, o ...tf.Option) tf.Output { return ops.NotEqual(x, y, o...) },
}

// a program is a graph of elementwise operations drawn at random.
type program struct {
	*rand.Rand
	g      *tf.Graph
	feeds  session.Feeds
	floats []tf.Output // of one type
	bools  []tf.Output
	dtype  tf.DType
	full   tf.Shape
	plain  bool // numbers are no specials
}

// specials are the numbers that loops treat in ways of their own.
var specials = []float64{0, math.Copysign(0, -1), 1, -1, math.NaN(), -math.NaN(), math.Inf(1), math.Inf(-1), 1e-40, -1e-40, 5e-324, 1e38, -3e38, 0.5, 88, -104}

// newProgram draws a program. Graphs know their shapes if static.
func newProgram(seed uint64, static bool) *program {
	p := &program{Rand: rand.New(rand.NewPCG(seed, 7)), g: tf.NewGraph(), feeds: session.Feeds{}, dtype: tf.Float32}
	if p.IntN(4) == 0 {
		p.dtype = tf.Float64
	}
	p.full = p.shape()
	for i := range 2 + p.IntN(3) {
		p.feed(i == 0, static)
	}
	for range 3 + p.IntN(25) {
		p.add()
	}
	return p
}

// shape draws a shape: small ones, long ones, and sizes of 0, 1 and beside blocks.
func (p *program) shape() tf.Shape {
	sizes := []int{1, 2, 3, 5, 7, 16, 17, 31, 33, 64, 100}
	s := make(tf.Shape, p.IntN(4))
	for i := range s {
		s[i] = sizes[p.IntN(len(sizes))]
	}
	switch p.IntN(8) {
	case 0:
		return tf.Shape{1000 + p.IntN(40000)}
	case 1:
		return tf.Shape{1 + p.IntN(9), 2040 + p.IntN(3000)}
	case 2:
		if len(s) > 0 {
			s[p.IntN(len(s))] = 0
		}
	}
	return s
}

// part draws a shape that is broadcast to the full one.
func (p *program) part() tf.Shape {
	s := p.full.Clone()
	for i := range s {
		if p.IntN(3) == 0 {
			s[i] = 1
		}
	}
	if p.IntN(3) == 0 {
		s = s[p.IntN(len(s)+1):]
	}
	return s
}

func (p *program) feed(full, static bool) {
	s := p.full
	if !full && p.IntN(3) > 0 {
		s = p.part()
	}
	t := p.tensor(s)
	if p.IntN(5) == 0 && s.NumElements() == 1 {
		p.floats = append(p.floats, ops.ConstTensor(p.g, t))
		return
	}
	known := s
	if !static {
		known = make(tf.Shape, len(s))
		for i := range known {
			known[i] = -1
		}
		if p.IntN(2) == 0 {
			known = nil
		}
	}
	x := ops.Placeholder(p.g, p.dtype, known)
	p.feeds[x] = t
	p.floats = append(p.floats, x)
}

func (p *program) tensor(s tf.Shape) *tf.Tensor {
	if p.dtype == tf.Float64 {
		return filled(p, s, func(v float64) float64 { return v })
	}
	return filled(p, s, func(v float64) float32 { return float32(v) })
}

func filled[T float32 | float64](p *program, s tf.Shape, of func(float64) T) *tf.Tensor {
	t := core.NewTensor(tf.TypeOf[T](), s)
	odd, out := p.IntN(2) == 0 && !p.plain, core.Data[T](t)
	for i := range out {
		v := p.NormFloat64() * 3
		if odd && p.IntN(6) == 0 {
			v = specials[p.IntN(len(specials))]
		}
		out[i] = of(v)
	}
	return (*tf.Tensor)(t)
}

func (p *program) pick() tf.Output { return p.floats[p.IntN(len(p.floats))] }

// recent picks what was added lately, so that chains get long.
func (p *program) recent() tf.Output {
	return p.floats[len(p.floats)-1-p.IntN(min(3, len(p.floats)))]
}

func (p *program) add() {
	x := p.recent()
	switch k := p.IntN(20); {
	case k < 7:
		p.floats = append(p.floats, unaries[p.IntN(len(unaries))](x))
	case k < 13:
		p.floats = append(p.floats, binaries[p.IntN(len(binaries))](x, p.pick()))
	case k < 14:
		p.floats = append(p.floats, binaries[p.IntN(len(binaries))](p.pick(), x))
	case k < 15:
		p.bools = append(p.bools, tests[p.IntN(len(tests))](x, p.pick()))
	case k < 16 && len(p.bools) > 0:
		p.bools = append(p.bools, ops.LogicalAnd(p.bool(), ops.LogicalNot(p.bool())))
	case k < 18 && len(p.bools) > 0:
		p.floats = append(p.floats, ops.SelectV2(p.bool(), x, p.pick()))
	case k < 19:
		p.floats = append(p.floats, ops.Cast(ops.Cast(x, []tf.DType{tf.Float64, tf.Float32, tf.Int32, tf.BFloat16}[p.IntN(4)]), p.dtype))
	default:
		p.floats = append(p.floats, ops.AddN([]tf.Output{x, ops.Neg(x), ops.Square(x)}))
	}
}

func (p *program) bool() tf.Output { return p.bools[p.IntN(len(p.bools))] }

// fetches draws what is asked for: the last value and some of the others.
func (p *program) fetches() (out []tf.Fetchable) {
	for _, x := range append(p.floats, p.bools...) {
		if p.IntN(4) == 0 || x == p.floats[len(p.floats)-1] {
			out = append(out, x)
		}
	}
	return out
}

// open returns sessions on the graph: one that fuses nothing and some that do, which
// use different numbers of threads.
func open(t *testing.T, g *tf.Graph) (plain *session.Session, fused []*session.Session) {
	t.Helper()
	start := func(c session.Config) *session.Session {
		s, err := session.New(g, session.With(c))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { s.Close() })
		return s
	}
	for _, threads := range []int{1, 4} {
		fused = append(fused, start(session.Config{Threads: threads}))
	}
	return start(session.Config{Threads: 1, DisabledPasses: []string{"fusion"}}), fused
}

// compare runs a graph both ways and compares bits, or errors.
func compare(t *testing.T, g *tf.Graph, feeds session.Feeds, fetches []tf.Fetchable) {
	t.Helper()
	plain, fused := open(t, g)
	want, wantErr := plain.Run(context.Background(), feeds, fetches...)
	for range 2 { // the second time with a plan at hand
		for i, s := range fused {
			got, err := s.Run(context.Background(), feeds, fetches...)
			if fmt.Sprint(err) != fmt.Sprint(wantErr) {
				t.Fatalf("session %d: error %v, want %v", i, err, wantErr)
			}
			for k := range got {
				if why := differ(got[k], want[k]); why != "" {
					t.Fatalf("session %d: output %d (%v): %s", i, k, fetches[k], why)
				}
			}
		}
	}
}

// differ says in what two tensors differ.
func differ(a, b *tf.Tensor) string {
	x, y := (*core.Tensor)(a), (*core.Tensor)(b)
	if x.DType() != y.DType() || fmt.Sprint(x.Shape()) != fmt.Sprint(y.Shape()) {
		return fmt.Sprintf("%v%v, want %v%v", x.DType(), x.Shape(), y.DType(), y.Shape())
	}
	if x.Len() == 0 || bytes.Equal(x.Buffer().Bytes(), y.Buffer().Bytes()) {
		return ""
	}
	for i := range x.Len() {
		if size := x.DType().Size(); !bytes.Equal(x.Buffer().Bytes()[i*size:(i+1)*size], y.Buffer().Bytes()[i*size:(i+1)*size]) {
			return fmt.Sprintf("element %d of %v%v is %v (%x), want %v (%x)", i, x.DType(), x.Shape(), x.At(i), x.Buffer().Bytes()[i*size:(i+1)*size], y.At(i), y.Buffer().Bytes()[i*size:(i+1)*size])
		}
	}
	return "bytes"
}

// seeds is how many programs a test makes; fewer under the race detector, where each takes ten times as long.
var seeds = map[bool]int{false: 300, true: 60}[invariants.Enabled]

// TestSameBits: fused programs give the bits of their operations one by one.
func TestSameBits(t *testing.T) {
	for seed := range uint64(seeds) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			p := newProgram(seed, seed%2 == 0)
			if p.g.Err() != nil {
				t.Fatal(p.g.Err())
			}
			compare(t, p.g, p.feeds, p.fetches())
		})
	}
}

// TestGradientsHaveTheSameBits: so do their gradients.
func TestGradientsHaveTheSameBits(t *testing.T) {
	for seed := range uint64(seeds / 4) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			p := newProgram(seed+1000, true)
			if p.g.Err() != nil {
				t.Fatal(p.g.Err())
			}
			fetches := p.fetches()
			for x := range p.feeds {
				dx, err := tf.Gradients(p.floats[len(p.floats)-1], x)
				if err == nil && dx[0].Graph() != nil {
					fetches = append(fetches, dx[0])
				}
			}
			compare(t, p.g, p.feeds, fetches)
		})
	}
}
