package session_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/ops"
	_ "github.com/gorge-tf/gorge/tf/ops/training"
	"github.com/gorge-tf/gorge/tf/session"
)

// looked counts how often the operation below has been computed.
var looked atomic.Int32

func init() {
	core.Register(core.OpDef{
		Name: "SessionTestLooked", In: "x: float", Out: "y: float", Shape: core.UnchangedShape, NoGrad: core.NotDifferentiable,
		Kernels: core.AnyType(func(*core.Node) (core.Kernel, error) {
			return core.Compute(func(c *core.OpContext) error { looked.Add(1); c.Forward(0, 0); return nil }), nil
		}),
	})
}

func lookedAt(x tf.Output) tf.Output {
	return tf.Apply(nil, "SessionTestLooked", []tf.Output{x}).Output(0)
}

// freezing opens a session that freezes variables and initializes them.
func freezing(t *testing.T, g *tf.Graph, freeze bool) *session.Session {
	t.Helper()
	s, err := session.New(g, session.With(session.Config{FreezeVariables: freeze, FoldNorms: freeze}))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	if _, err := s.Run(t.Context(), nil, tf.InitializeAll(g)); err != nil {
		t.Fatal(err)
	}
	return s
}

func callable(t *testing.T, s *session.Session, x, y tf.Output) func() []float32 {
	t.Helper()
	c, err := s.MakeCallable([]tf.Output{x}, y)
	if err != nil {
		t.Fatal(err)
	}
	return func() []float32 {
		t.Helper()
		out, err := c.Run(t.Context(), tf.Scalar[float32](1))
		if err != nil {
			t.Fatal(err)
		}
		return slices.Clone(tf.Data[float32](out[0]))
	}
}

// TestFrozenIsComputedInAdvance: what depends on variables only is computed once, and
// again after a write to one of them; a write to another variable changes nothing. A
// callable that finds a write at nearly each run reads the variables.
func TestFrozenIsComputedInAdvance(t *testing.T) {
	g := tf.NewGraph()
	x := ops.Placeholder(g, tf.Float32, tf.Shape{})
	v := tf.NewVariable(ops.Const(g, []float32{1, 2}), tf.VariableOptions{Name: "v"})
	ref := tf.NewVariable(ops.Const(g, []float32{10, 20}), tf.VariableOptions{Name: "ref", Reference: true})
	other := tf.NewVariable(ops.Scalar[float32](g, 0), tf.VariableOptions{Name: "other"})
	y := ops.Mul(x, lookedAt(ops.Add(v.Read(), ref.Read())))
	writes := []*tf.Operation{v.AssignAdd(ops.Const(g, []float32{1, 1})), ref.AssignAdd(ops.Const(g, []float32{1, 1}))}
	unrelated := other.AssignAdd(ops.Scalar[float32](g, 1))
	s := freezing(t, g, true)
	run := callable(t, s, x, y)
	before := looked.Load()
	expect := func(what string, first float32, times int32) {
		t.Helper()
		if got := run(); got[0] != first || looked.Load()-before != times {
			t.Fatalf("%s: got %v, computed %d times, want %v and %d", what, got, looked.Load()-before, first, times)
		}
	}
	write := func(op *tf.Operation) {
		t.Helper()
		if _, err := s.Run(t.Context(), nil, op); err != nil {
			t.Fatal(err)
		}
	}
	for range 3 {
		expect("nothing written", 11, 1)
		write(unrelated)
	}
	for i := range 2 {
		write(writes[i])
		expect("written", float32(12+i), int32(2+i))
		for range 120 { // it was worth it
			expect("read again", float32(12+i), int32(2+i))
		}
	}
	var times [8]int32
	for i := range times {
		write(writes[i%2])
		run()
		run()
		times[i] = looked.Load() - before - 3
	}
	if want := [8]int32{1, 2, 3, 4, 6, 8, 10, 12}; times != want { // the first is free: 120 runs had gone before
		t.Errorf("computed %v times, want %v", times, want)
	}
}

// writers are operations that write to a vector v of three elements.
func writers(g *tf.Graph, v *tf.Variable, vec, scalar tf.Output) map[string]*tf.Operation {
	h := v.Handle()
	one := ops.Const(g, []int32{1})
	apply := func(name string, in ...tf.Output) *tf.Operation { return tf.Apply(g, name, in) }
	part := ops.Reshape(scalar, ops.Const(g, []int32{1}))
	all := map[string]*tf.Operation{"assign": v.Assign(vec), "assign add": v.AssignAdd(vec), "assign sub": v.AssignSub(vec)}
	if v.IsReference() {
		all["scatter update"] = apply("ScatterUpdate", h, one, part)
		all["scatter add"] = apply("ScatterAdd", h, one, part)
		all["descent"] = apply("ApplyGradientDescent", h, scalar, vec)
		return all
	}
	all["scatter update"] = apply("ResourceScatterUpdate", h, one, part)
	all["scatter add"] = apply("ResourceScatterAdd", h, one, part)
	all["descent"] = apply("ResourceApplyGradientDescent", h, scalar, vec)
	all["strided"] = tf.Apply(g, "ResourceStridedSliceAssign", []tf.Output{h, one, ops.Const(g, []int32{2}), one, part}, tf.Attr("Index", tf.Int32))
	destroyed := ops.DestroyResourceOp(h)
	g.ControlDependencies([]*tf.Operation{destroyed}, func() { all["made anew"] = v.Assign(vec) })
	g.ControlDependencies([]*tf.Operation{v.Assign(ops.Add(v.Read(), vec))}, func() { all["of itself"] = ops.NoOp(g) })
	return all
}

// TestFrozenSeesEveryWrite does random writes of all kinds in a session that freezes and
// in one that does not; callables give the same in both.
func TestFrozenSeesEveryWrite(t *testing.T) {
	for _, reference := range []bool{false, true} {
		t.Run(fmt.Sprint("reference ", reference), func(t *testing.T) {
			g := tf.NewGraph()
			x := ops.Placeholder(g, tf.Float32, tf.Shape{})
			vec, scalar := ops.Placeholder(g, tf.Float32, tf.Shape{3}), ops.Placeholder(g, tf.Float32, tf.Shape{})
			v := tf.NewVariable(ops.Const(g, []float32{1, 2, 3}), tf.VariableOptions{Name: "v", Reference: reference})
			y := ops.Sub(ops.Mul(x, ops.Exp(ops.Neg(v.Read()))), v.Read())
			all := writers(g, v, vec, scalar)
			var names []string
			for name := range all {
				names = append(names, name)
			}
			slices.Sort(names)
			a, b := freezing(t, g, true), freezing(t, g, false)
			for seed := range 40 {
				r := rand.New(rand.NewPCG(uint64(seed), 1))
				one, two := callable(t, a, x, y), callable(t, b, x, y)
				for range 12 {
					name := names[r.IntN(len(names))]
					feeds := session.Feeds{vec: must(tf.TensorOf([]float32{r.Float32(), r.Float32(), r.Float32()})), scalar: tf.Scalar(r.Float32())}
					for _, s := range []*session.Session{a, b} {
						if r.IntN(2) == 0 {
							one()
						}
						if _, err := s.Run(t.Context(), feeds, all[name]); err != nil {
							t.Fatalf("%s: %v", name, err)
						}
					}
					if got, want := one(), two(); !slices.Equal(got, want) {
						t.Fatalf("seed %d: after %s: %v, a session that reads gives %v", seed, name, got, want)
					}
				}
			}
		})
	}
}

// TestFrozenHappensBefore writes rising numbers to a variable while others run a callable:
// each run sees at least what was written before it began, and all elements alike.
func TestFrozenHappensBefore(t *testing.T) {
	g := tf.NewGraph()
	x := ops.Placeholder(g, tf.Float32, tf.Shape{})
	to := ops.Placeholder(g, tf.Float32, tf.Shape{})
	const n = 64
	v := tf.NewVariable(ops.Fill(ops.Const(g, []int32{n}), ops.Scalar[float32](g, 0)), tf.VariableOptions{Name: "v"})
	full := ops.Fill(ops.Const(g, []int32{n}), to)
	assign, add := v.Assign(full), v.AssignAdd(ops.Fill(ops.Const(g, []int32{n}), ops.Scalar[float32](g, 1)))
	y := ops.Mul(x, ops.Neg(ops.Neg(ops.Mul(v.Read(), ops.Scalar[float32](g, 1)))))
	s := freezing(t, g, true)
	var begun, ended atomic.Int64
	var readers, writer sync.WaitGroup
	stop := make(chan struct{})
	for range 8 {
		c, err := s.MakeCallable([]tf.Output{x}, y)
		if err != nil {
			t.Fatal(err)
		}
		for range 2 {
			readers.Go(func() {
				for {
					low := ended.Load()
					out, err := c.Run(t.Context(), tf.Scalar[float32](1))
					high := begun.Load()
					if err != nil {
						t.Error(err)
						return
					}
					got := tf.Data[float32](out[0])
					if k := int64(got[0]); k < low || k > high || slices.ContainsFunc(got, func(e float32) bool { return e != got[0] }) {
						t.Errorf("read %v between %d and %d", got, low, high)
						return
					}
					select {
					case <-stop:
						return
					default:
					}
				}
			})
		}
	}
	writer.Go(func() {
		for k := range 300 {
			begun.Add(1)
			op, feeds := assign, session.Feeds{to: tf.Scalar(float32(k + 1))}
			if k%2 == 1 {
				op, feeds = add, nil
			}
			if _, err := s.Run(t.Context(), feeds, op); err != nil {
				t.Error(err)
			}
			ended.Add(1)
		}
	})
	writer.Wait()
	close(stop)
	readers.Wait()
}

// TestFrozenErrors: a variable without value is the error that it was, and no obstacle
// once it has one; a callable that writes sees its own writes.
func TestFrozenErrors(t *testing.T) {
	g := tf.NewGraph()
	x := ops.Placeholder(g, tf.Float32, tf.Shape{})
	v := tf.NewVariable(ops.Scalar[float32](g, 5), tf.VariableOptions{Name: "v"})
	y := ops.Mul(x, v.Read())
	var z tf.Output
	g.ControlDependencies([]*tf.Operation{v.AssignAdd(ops.Scalar[float32](g, 1))}, func() { z = ops.Mul(x, v.Read()) })
	s := must(session.New(g, session.With(session.Config{FreezeVariables: true})))
	defer s.Close()
	c := must(s.MakeCallable([]tf.Output{x}, y))
	if _, err := c.Run(t.Context(), tf.Scalar[float32](1)); tf.CodeOf(err) != tf.FailedPrecondition || !strings.Contains(err.Error(), "v") {
		t.Errorf("before the variable has a value: %v", err)
	}
	if _, err := s.Run(t.Context(), nil, tf.InitializeAll(g)); err != nil {
		t.Fatal(err)
	}
	if got := callable(t, s, x, y)(); got[0] != 5 {
		t.Errorf("got %v", got)
	}
	if out, err := c.Run(t.Context(), tf.Scalar[float32](1)); err != nil || tf.Data[float32](out[0])[0] != 5 {
		t.Errorf("the first callable: %v, %v", out, err)
	}
	count := callable(t, s, x, z)
	for i := range 5 {
		if got := count(); got[0] != float32(6+i) {
			t.Errorf("run %d of a callable that writes: %v", i, got)
		}
	}
}

// TestFrozenSharesMemory: constants share the memory of variables, and what is computed
// of them in advance is bounded: a model is not in memory twice.
func TestFrozenSharesMemory(t *testing.T) {
	g := tf.NewGraph()
	x := ops.Placeholder(g, tf.Float32, tf.Shape{})
	const n, k = 1 << 10, 20
	y := ops.Fill(ops.Const(g, []int32{1, n}), x)
	for i := range k {
		w := tf.NewVariable(ops.RandomUniform(g, tf.Shape{n, n}, tf.Float32), tf.VariableOptions{Name: fmt.Sprint("w", i)})
		y = ops.Mul(ops.MatMul(y, ops.Abs(w.Read())), ops.Scalar[float32](g, 1.0/n))
	}
	s := freezing(t, g, true)
	c := must(s.MakeCallable([]tf.Output{x}, y))
	usage := func() int64 {
		runtime.GC()
		in, _ := tf.MemoryUsage()
		return in
	}
	before := usage()
	if err := c.Plan(t.Context()); err != nil {
		t.Fatal(err)
	}
	after := usage()
	if more, all := after-before, int64(4*n*n*k); more > max(all/4, 32<<20)+1<<20 {
		t.Errorf("to have %d bytes of variables as constants takes %d", all, more)
	}
	if out := must(c.Run(t.Context(), tf.Scalar[float32](3))); !(tf.Data[float32](out[0])[0] > 0) {
		t.Errorf("got %v", out[0])
	}
}

// TestFrozenInTheMiddle: callables and runs that fetch what is between a convolution and
// its normalization get what the graph says.
func TestFrozenInTheMiddle(t *testing.T) {
	g := tf.NewGraph()
	x := ops.Placeholder(g, tf.Float32, tf.Shape{})
	r := rand.New(rand.NewPCG(3, 4))
	variable := func(name string, shape ...int) tf.Output {
		v := make([]float32, tf.Shape(shape).NumElements())
		for i := range v {
			v[i] = 0.1 + r.Float32()
		}
		return tf.NewVariable(ops.Const(g, v, shape...), tf.VariableOptions{Name: name}).Read()
	}
	image := ops.Mul(x, ops.Fill(ops.Const(g, []int32{1, 8, 8, 3}), ops.Scalar[float32](g, 0.5)))
	conv := ops.Conv2D(image, variable("w", 3, 3, 3, 4), []int{1, 1, 1, 1}, "SAME")
	biased := ops.BiasAdd(conv, variable("b", 4))
	norm := ops.FusedBatchNormV3(biased, variable("scale", 4), variable("offset", 4), variable("mean", 4), variable("var", 4), ops.BatchNormOpts{Inference: true})[0]
	y := ops.Relu(norm)
	a, b := freezing(t, g, true), freezing(t, g, false)
	for name, f := range map[string]tf.Output{"conv": conv, "biased": biased, "norm": norm, "y": y} {
		got, want := callable(t, a, x, f)(), callable(t, b, x, f)()
		direct := must(a.Run(t.Context(), session.Feeds{x: tf.Scalar[float32](1)}, f))
		for i := range want {
			if d := math.Abs(float64(got[i] - want[i])); !(d <= 1e-5*max(1, math.Abs(float64(want[i])))) || tf.Data[float32](direct[0])[i] != want[i] {
				t.Fatalf("%s, element %d: %v, without freezing %v", name, i, got[i], want[i])
			}
		}
	}
	c := must(a.MakeCallable([]tf.Output{x}, conv, y))
	out := must(c.Run(t.Context(), tf.Scalar[float32](1)))
	if !slices.Equal(tf.Data[float32](out[0]), callable(t, b, x, conv)()) {
		t.Error("a convolution that is fetched beside its normalization has other weights")
	}
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}
