package fuse_test

import (
	"context"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"runtime/debug"
	"runtime/pprof"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gorge-tf/gorge/internal/kernel"
	"github.com/gorge-tf/gorge/internal/machine"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/session"
)

// What machine code is made of, and what cuts it: dear operations, casts.
var (
	simpleUnaries = []unary{ops.Neg, ops.Abs, ops.Sign, ops.Square, ops.Sqrt, ops.Reciprocal, ops.Relu, ops.Relu6, ops.Floor, ops.Ceil, ops.Rint, ops.Round, leaky}
	simpleBinary  = []binary{ops.AddV2, ops.Sub, ops.Mul, ops.RealDiv, ops.Maximum, ops.Minimum, ops.SquaredDifference, ops.ReluGrad, ops.Relu6Grad, tanhGrad, sigmoidGrad, leakyGrad}
	intBinaries   = []binary{ops.AddV2, ops.Sub, ops.Mul, ops.Maximum, ops.Minimum}
)

func leaky(x tf.Output, o ...tf.Option) tf.Output {
	return ops.LeakyRelu(x, append(o, ops.LeakyReluOpts{Alpha: -0.375})...)
}

func leakyGrad(x, y tf.Output, o ...tf.Option) tf.Output {
	return tf.Apply(nil, "LeakyReluGrad", []tf.Output{x, y}, append(o, ops.LeakyReluOpts{Alpha: 0.1})...).Output(0)
}

func tanhGrad(x, y tf.Output, o ...tf.Option) tf.Output {
	return tf.Apply(nil, "TanhGrad", []tf.Output{x, y}, o...).Output(0)
}

func sigmoidGrad(x, y tf.Output, o ...tf.Option) tf.Output {
	return tf.Apply(nil, "SigmoidGrad", []tf.Output{x, y}, o...).Output(0)
}

// equalShaped reports that an operation does not broadcast.
func equalShaped(i int) bool { return i >= 7 }

// newSimple draws a program of the operations that become machine code, for vectors of
// all lengths up to some registers, odd ones, and ones of several blocks, and matrices.
func newSimple(seed uint64) *program {
	p := &program{Rand: rand.New(rand.NewPCG(seed, 11)), g: tf.NewGraph(), feeds: session.Feeds{}, dtype: tf.Float32}
	switch p.full = (tf.Shape{int(seed % 71)}); p.IntN(6) {
	case 0:
		p.full = tf.Shape{2000 + p.IntN(200)}
	case 1:
		p.full = tf.Shape{30000 + p.IntN(9000)}
	case 2:
		p.full = tf.Shape{1 + p.IntN(70), 1 + p.IntN(40)}
	}
	full := p.IntN(3)
	for i := range 2 + p.IntN(12) {
		p.feed(i <= full, i%2 == 0)
	}
	p.turn()
	for range 2 + p.IntN(50) {
		p.addSimple(full)
	}
	return p
}

// turn puts the first dimension of half of the values upside down, which no cluster does:
// their memory is the step's own, so that results can take it.
func (p *program) turn() {
	for i, x := range p.floats {
		if len(x.Shape()) > 0 && p.IntN(2) == 0 {
			p.floats[i] = ops.Reverse(x, []int{0})
		}
	}
}

// addSimple adds an operation; the first full values have the shape of the results.
func (p *program) addSimple(full int) {
	x := p.recent()
	switch k := p.IntN(24); {
	case k < 6:
		p.floats = append(p.floats, simpleUnaries[p.IntN(len(simpleUnaries))](x))
	case k < 16:
		y, i := p.pick(), p.IntN(len(simpleBinary))
		if p.IntN(2) == 0 {
			x, y = y, x
		}
		if equalShaped(i) {
			z := p.floats[p.IntN(full+1)]
			x, y = ops.AddV2(x, z), ops.Sub(z, y)
		}
		p.floats = append(p.floats, simpleBinary[i](x, y))
	case k < 18:
		p.bools = append(p.bools, tests[p.IntN(len(tests))](x, p.pick()))
	case k < 19 && len(p.bools) > 0:
		p.bools = append(p.bools, ops.LogicalOr(p.bool(), ops.LogicalAnd(p.bool(), ops.LogicalNot(p.bool()))))
	case k < 22 && len(p.bools) > 0:
		p.floats = append(p.floats, ops.SelectV2(p.bool(), x, p.pick()))
	case k < 23:
		p.floats = append(p.floats, ops.AddN([]tf.Output{x, ops.Neg(x), ops.Square(x)}))
	default:
		p.floats = append(p.floats, ops.Exp(x))
	}
}

// onEachLevel runs a test with each set of vector instructions that the processor has,
// and without.
func onEachLevel(t *testing.T, f func(t *testing.T)) {
	for _, l := range kernel.Levels() {
		t.Run(l.String(), func(t *testing.T) {
			kernel.Use(l)
			defer kernel.Use(kernel.Levels()[0])
			f(t)
		})
	}
}

// TestMachineCodeHasTheSameBits compares programs of simple operations with the kernels of
// each by itself.
func TestMachineCodeHasTheSameBits(t *testing.T) {
	onEachLevel(t, func(t *testing.T) {
		for seed := range uint64(seeds / 2) { // each length twice
			p := newSimple(seed)
			if p.g.Err() != nil {
				t.Fatal(p.g.Err())
			}
			t.Run(fmt.Sprint(seed), func(t *testing.T) { compare(t, p.g, p.feeds, p.fetches()) })
		}
	})
}

// TestGeneralProgramsOnEachLevel does so for programs of all kinds.
func TestGeneralProgramsOnEachLevel(t *testing.T) {
	onEachLevel(t, func(t *testing.T) {
		for seed := range uint64(seeds / 6) {
			p := newProgram(seed+5000, seed%2 == 0)
			t.Run(fmt.Sprint(seed), func(t *testing.T) { compare(t, p.g, p.feeds, p.fetches()) })
		}
	})
}

// TestIntegersInMachineCode compares int32, which wraps around.
func TestIntegersInMachineCode(t *testing.T) {
	onEachLevel(t, func(t *testing.T) {
		for seed := range uint64(80) {
			r, g := rand.New(rand.NewPCG(seed, 3)), tf.NewGraph()
			values := make([]int32, r.IntN(200))
			for i := range values {
				values[i] = int32(r.Uint32())
			}
			x := ops.Placeholder(g, tf.Int32, tf.Shape{-1})
			all := []tf.Output{x, ops.Scalar(g, int32(r.Uint32()))}
			for range 2 + r.IntN(12) {
				all = append(all, intBinaries[r.IntN(len(intBinaries))](all[r.IntN(len(all))], all[len(all)-1]))
			}
			sum := ops.AddV2(all[len(all)-1], x)
			compare(t, g, session.Feeds{x: must(tf.FromSlice(values))}, []tf.Fetchable{sum, all[len(all)/2]})
		}
	})
}

// beside is how long TestMachineCodeBesideTheRuntime takes.
var beside = flag.Duration("beside", 500*time.Millisecond, "how long machine code runs beside the garbage collector and the profiler")

// underway is a chain that is run by many goroutines, with what it must give.
type underway struct {
	c    *session.Callable
	x    *tf.Tensor
	want *tf.Tensor
}

func newUnderway(t *testing.T, n int) *underway {
	t.Helper()
	g := tf.NewGraph()
	x := ops.Placeholder(g, tf.Float32, tf.Shape{-1})
	y := x
	for i := range 12 {
		y = ops.Maximum(ops.AddV2(ops.Mul(y, x), ops.Scalar(g, float32(i))), ops.Neg(y))
		if i%4 == 3 {
			y = ops.Tanh(y)
		}
	}
	values := make([]float32, n)
	for i := range values {
		values[i] = float32(i%97) / 50
	}
	u := &underway{x: vector(values...)}
	plain := must(session.New(g, session.With(session.Config{DisabledPasses: []string{"fusion"}})))
	defer plain.Close()
	u.want = must(plain.Run(context.Background(), session.Feeds{x: u.x}, y))[0]
	s := must(session.New(g))
	t.Cleanup(func() { s.Close() })
	u.c = must(s.MakeCallable([]tf.Output{x}, y))
	return u
}

// run runs the chain until the time has passed.
func (u *underway) run(end time.Time) error {
	for time.Now().Before(end) {
		got, err := u.c.Run(context.Background(), u.x)
		if err != nil {
			return err
		}
		if why := differ(got[0], u.want); why != "" {
			return fmt.Errorf("%s", why)
		}
	}
	return nil
}

// TestMachineCodeBesideTheRuntime: while goroutines run one plan, the garbage collector,
// the scheduler's preemption and the profiler's signals meet machine code.
func TestMachineCodeBesideTheRuntime(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(1))
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(2))
	var profile strings.Builder
	if err := pprof.StartCPUProfile(&profile); err == nil { // else the test itself is being profiled
		defer pprof.StopCPUProfile()
	}
	end := time.Now().Add(*beside)
	var wg sync.WaitGroup
	for _, n := range []int{17, 1000, 50000} {
		u := newUnderway(t, n)
		for range 8 {
			wg.Go(func() {
				if err := u.run(end); err != nil {
					t.Errorf("%d elements: %v", n, err)
				}
			})
		}
	}
	wg.Go(func() {
		for time.Now().Before(end) {
			runtime.GC()
		}
	})
	wg.Wait()
}

// TestWithoutMachineCode: where programs cannot be loaded loops run, to the same bits.
func TestWithoutMachineCode(t *testing.T) {
	defer machine.Use(machine.Available())
	machine.Use(false)
	for seed := range uint64(20) {
		p := newSimple(seed + 900)
		compare(t, p.g, p.feeds, p.fetches())
	}
}

// TestWhichNaNIsTheResult: where both operands are NaN, that of a kernel's own order is, for
// scalars in either place, too.
func TestWhichNaNIsTheResult(t *testing.T) {
	onEachLevel(t, func(t *testing.T) {
		for i, f := range simpleBinary[:7] {
			for _, n := range []int{20, 3000} {
				g := tf.NewGraph()
				a, b := make([]float32, n), math.Float32frombits(0x7fc00abc)
				for k := range a {
					a[k] = math.Float32frombits(0xffc00000 + uint32(k))
				}
				x, s := ops.Placeholder(g, tf.Float32, tf.Shape{-1}), ops.Placeholder(g, tf.Float32, tf.Shape{})
				feeds := session.Feeds{x: vector(a...), s: tf.Scalar(b)}
				t.Run(fmt.Sprintf("%d of %d", i, n), func(t *testing.T) {
					compare(t, g, feeds, []tf.Fetchable{ops.Neg(f(x, s)), ops.Neg(f(s, x)), ops.Neg(f(x, ops.Neg(x)))})
				})
			}
		}
	})
}

// newSimpleRows draws a program of rows, to which it adds operations that become machine
// code: on rows, on columns, and on both.
func newSimpleRows(seed uint64) *rowProgram {
	p := newRowProgram(seed)
	for range 5 + p.IntN(25) {
		if f := simpleBinary[p.IntN(7)]; p.IntN(3) == 0 {
			p.columns = append(p.columns, f(p.columns[p.IntN(len(p.columns))], p.columns[len(p.columns)-1]))
		} else {
			other := [][]tf.Output{p.columns, p.floats, p.rowFeeds}[p.IntN(3)]
			x, y := p.recent(), other[p.IntN(len(other))]
			if p.IntN(2) == 0 {
				x, y = y, x
			}
			p.floats = append(p.floats, f(x, y))
		}
		if p.IntN(4) == 0 {
			p.columns = append(p.columns, folds[p.IntN(len(folds))](p.recent(), p.axes(), ops.ReduceOpts{KeepDims: true}))
		}
	}
	return p
}

// TestRowsInMachineCode compares what code computes row by row, with columns.
func TestRowsInMachineCode(t *testing.T) {
	onEachLevel(t, func(t *testing.T) {
		for seed := range uint64(seeds / 4) {
			p := newSimpleRows(seed + 7000)
			if p.g.Err() != nil {
				t.Fatal(p.g.Err())
			}
			t.Run(fmt.Sprint(seed), func(t *testing.T) { compare(t, p.g, p.feeds, p.wanted()) })
		}
	})
}

// TestColumnsAreNotOverwritten: the register of a column may be that of a result of the
// step after the one that reads it last, if the rows do not go through both side by side.
func TestColumnsAreNotOverwritten(t *testing.T) {
	g := tf.NewGraph()
	x := ops.Placeholder(g, tf.Float32, tf.Shape{-1, 64})
	c := ops.Log(ops.Sum(ops.Exp(x), []int{1}, ops.ReduceOpts{KeepDims: true}))
	d := ops.Sub(x, c)
	e := ops.Mul(d, x)
	y := ops.AddV2(ops.Exp(ops.Mul(e, d)), ops.Exp(e))
	values := make([]float32, 64*64)
	for i := range values {
		values[i] = float32(i*i%113) / 100
	}
	compare(t, g, session.Feeds{x: must(tf.FromSlice(values, 64, 64))}, []tf.Fetchable{y})
}

// TestReportTellsMachineCode: it says how many nodes of a cluster machine code can be made
// of, if it is wanted.
func TestReportTellsMachineCode(t *testing.T) {
	g := tf.NewGraph()
	x := ops.Placeholder(g, tf.Float32, tf.Shape{-1})
	y := ops.Relu(ops.Exp(ops.Mul(ops.AddV2(x, x), x)), tf.Name("r"))
	if text := lines(t, g, session.Config{}, y); strings.Contains(text, "r/fused: 4 nodes, 3 for machine code\n") != machine.Available() {
		t.Errorf("machine code can be made: %v, the report is\n%s", machine.Available(), text)
	}
	defer machine.Use(machine.Available())
	machine.Use(false)
	if text := lines(t, g, session.Config{}, y); strings.Contains(text, "machine code") {
		t.Errorf("without machine code the report is\n%s", text)
	}
}
