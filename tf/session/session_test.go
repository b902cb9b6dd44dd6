package session_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/eager"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/session"
)

// open returns a session that ends with the test.
func open(t *testing.T, g *tf.Graph, opts ...session.Option) *session.Session {
	t.Helper()
	s, err := session.New(g, opts...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func vector(t *testing.T, v ...float32) *tf.Tensor {
	t.Helper()
	x, err := tf.FromSlice(v)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

func TestRun(t *testing.T) {
	g := tf.NewGraph()
	x := ops.Placeholder(g, tf.Float32, tf.Shape{-1}, tf.Name("x"))
	y := x.Mul(x).Add(ops.Scalar(g, float32(1)))
	s := open(t, g)
	got, err := session.Fetch[float32](t.Context(), s, session.Feeds{x: vector(t, 1, 2, 3)}, y)
	if err != nil || !slices.Equal(got, []float32{2, 5, 10}) {
		t.Errorf("got %v, %v", got, err)
	}
	// An intermediate result can be fed, and fetches repeated.
	z, err := s.Run(t.Context(), session.Feeds{x: vector(t, 4)}, y, y, y.Operation())
	if err != nil || !copies(z[1], z[0]) || z[2] != nil || tf.Data[float32](z[0])[0] != 17 {
		t.Errorf("got %v, %v", z, err)
	}
}

func TestFetchedMemoryIsTheProgramsOwn(t *testing.T) {
	g := tf.NewGraph()
	x := ops.Placeholder(g, tf.Float32, tf.Shape{-1})
	y := x.Add(x)
	s := open(t, g)
	first, err := session.Fetch[float32](t.Context(), s, session.Feeds{x: vector(t, 1, 2)}, y)
	if err != nil {
		t.Fatal(err)
	}
	for range 100 {
		if _, err := session.Fetch[float32](t.Context(), s, session.Feeds{x: vector(t, 7, 8)}, y); err != nil {
			t.Fatal(err)
		}
	}
	if !slices.Equal(first, []float32{2, 4}) {
		t.Errorf("later steps have changed what an earlier one returned: %v", first)
	}
}

func TestVariablesKeepState(t *testing.T) {
	g := tf.NewGraph()
	v := tf.NewVariable(ops.Scalar(g, int64(10)), tf.VariableOptions{Name: "counter"})
	inc := v.AssignAdd(ops.Scalar(g, int64(1)))
	s := open(t, g)
	_, err := session.Fetch[int64](t.Context(), s, nil, v.Value())
	if tf.CodeOf(err) != tf.FailedPrecondition || !strings.Contains(err.Error(), "counter") {
		t.Errorf("reading an uninitialized variable: %v", err)
	}
	ops := []tf.Fetchable{tf.InitializeAll(g), inc, inc}
	for _, op := range ops {
		if _, err := s.Run(t.Context(), nil, op); err != nil {
			t.Fatal(err)
		}
	}
	got, err := session.Fetch[int64](t.Context(), s, nil, v.Value())
	if err != nil || got[0] != 12 {
		t.Errorf("got %v, %v", got, err)
	}
	other := open(t, g)
	if _, err := session.Fetch[int64](t.Context(), other, nil, v.Value()); tf.CodeOf(err) != tf.FailedPrecondition {
		t.Errorf("another session sees the variable: %v", err)
	}
}

func TestGraphGrows(t *testing.T) {
	g := tf.NewGraph()
	v := tf.NewVariable(ops.Scalar(g, float32(1)), tf.VariableOptions{})
	s := open(t, g)
	if _, err := s.Run(t.Context(), nil, v.Initializer()); err != nil {
		t.Fatal(err)
	}
	double := v.Value().Add(v.Value())
	got, err := session.Fetch[float32](t.Context(), s, nil, double)
	if err != nil || got[0] != 2 {
		t.Errorf("an operation added later: %v, %v", got, err)
	}
}

// TestManyGoroutines runs one session from many goroutines while the graph
// grows.
func TestManyGoroutines(t *testing.T) {
	g := tf.NewGraph()
	x := ops.Placeholder(g, tf.Float32, tf.Shape{})
	y := x.Mul(x)
	s := open(t, g)
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			for k := range 200 {
				v := float32(i*1000 + k)
				got, err := session.Fetch[float32](t.Context(), s, session.Feeds{x: tf.Scalar(v)}, y)
				if err != nil || got[0] != v*v {
					t.Errorf("%v squared is %v, %v", v, got, err)
					return
				}
			}
		})
	}
	z := y
	for range 100 {
		z = z.Add(y)
	}
	wg.Wait()
	if got, err := session.Fetch[float32](t.Context(), s, session.Feeds{x: tf.Scalar(float32(2))}, z); err != nil || got[0] != 404 {
		t.Errorf("got %v, %v", got, err)
	}
}

func TestCallable(t *testing.T) {
	g := tf.NewGraph()
	x, y := ops.Placeholder(g, tf.Float32, tf.Shape{}), ops.Placeholder(g, tf.Float32, tf.Shape{})
	v := tf.NewVariable(ops.Scalar(g, float32(0)), tf.VariableOptions{})
	sum := x.Sub(y)
	s := open(t, g)
	if _, err := s.Run(t.Context(), nil, v.Initializer()); err != nil {
		t.Fatal(err)
	}
	c, err := s.MakeCallable([]tf.Output{y, x}, sum, v.AssignAdd(sum))
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		out, err := c.Run(t.Context(), tf.Scalar(float32(1)), tf.Scalar(float32(5)))
		if err != nil || tf.Data[float32](out[0])[0] != 4 || out[1] != nil {
			t.Fatalf("got %v, %v", out, err)
		}
	}
	if got, err := session.Fetch[float32](t.Context(), s, nil, v.Value()); err != nil || got[0] != 12 {
		t.Errorf("the variable is %v, %v", got, err)
	}
	for name, args := range map[string][]*tf.Tensor{
		"too few": {tf.Scalar(float32(1))}, "wrong type": {tf.Scalar(int32(1)), tf.Scalar(float32(1))},
		"wrong shape": {vector(t, 1, 2), tf.Scalar(float32(1))}, "nil": {nil, tf.Scalar(float32(1))},
	} {
		if _, err := c.Run(t.Context(), args...); tf.CodeOf(err) != tf.InvalidArgument {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestBadInput: each mistake gets an error that says what is wrong.
func TestBadInput(t *testing.T) {
	g := tf.NewGraph()
	x := ops.Placeholder(g, tf.Float32, tf.Shape{-1, 2}, tf.Name("x"))
	y := x.Square()
	other := ops.Scalar(tf.NewGraph(), float32(1))
	s := open(t, g)
	wide, err := tf.FromSlice([]float32{1, 2, 3}, 1, 3)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name    string
		feeds   session.Feeds
		fetches []tf.Fetchable
		want    string
	}{
		{"nothing fetched", nil, nil, "Must specify at least one target"},
		{"nil fetch", nil, []tf.Fetchable{nil}, "a fetch must be an output or operation"},
		{"zero output", nil, []tf.Fetchable{tf.Output{}}, "a fetch must be an output or operation"},
		{"foreign fetch", nil, []tf.Fetchable{other}, "must belong to the session's graph"},
		{"foreign feed", session.Feeds{other: tf.Scalar(float32(1))}, []tf.Fetchable{y}, "must belong to the session's graph"},
		{"not fed", nil, []tf.Fetchable{y}, "You must feed a value for placeholder tensor 'x' with dtype float and shape [?,2]"},
		{"wrong type", session.Feeds{x: tf.Scalar(int32(1))}, []tf.Fetchable{y}, `session_test.go:`},
		{"wrong shape", session.Feeds{x: wide}, []tf.Fetchable{y}, "Cannot feed value of shape [1,3] for Tensor x:0, which has shape [?,2]"},
		{"nil value", session.Feeds{x: nil}, []tf.Fetchable{y}, "must not be nil"},
	} {
		_, err := s.Run(t.Context(), c.feeds, c.fetches...)
		if err == nil || !strings.Contains(err.Error(), c.want) || tf.CodeOf(err) != tf.InvalidArgument {
			t.Errorf("%s: got %v (%v), want %q", c.name, err, tf.CodeOf(err), c.want)
		}
	}
}

func TestRunTimeErrorNamesTheLine(t *testing.T) {
	g := tf.NewGraph()
	x := ops.Placeholder(g, tf.Float32, nil, tf.Name("x"))
	w := ops.Const(g, make([]float32, 6), 2, 3)
	y := ops.MatMul(x, w, tf.Name("product"))
	s := open(t, g)
	three, err := tf.FromSlice([]float32{1, 2, 3}, 1, 3)
	if err != nil {
		t.Fatal(err)
	}
	_, err = s.Run(t.Context(), session.Feeds{x: three}, y)
	var e *tf.Error
	if !errors.As(err, &e) || e.Code != tf.InvalidArgument || e.Node != "product" || !strings.HasPrefix(e.Pos, "session_test.go:") ||
		!slices.Equal(e.In, []string{"float32[1,3]", "float32[2,3]"}) {
		t.Errorf("got %#v", err)
	}
}

func TestStickyErrors(t *testing.T) {
	g := tf.NewGraph()
	a, b := ops.Const(g, make([]float32, 2), 1, 2), ops.Const(g, make([]float32, 3), 1, 3)
	ops.MatMul(a, b)
	if _, err := session.New(g); err == nil || !strings.Contains(err.Error(), "session_test.go:") {
		t.Errorf("New: %v", err)
	}
	if _, err := session.New(tf.NewGraph()); err != nil {
		t.Errorf("an empty graph is none the worse: %v", err)
	}
	// In a session that is running only what depends on the mistake fails.
	g = tf.NewGraph()
	a, b = ops.Const(g, make([]float32, 2), 1, 2), ops.Const(g, make([]float32, 3), 1, 3)
	s := open(t, g)
	bad := ops.Tanh(ops.MatMul(a, b))
	if _, err := s.Run(t.Context(), nil, bad); tf.CodeOf(err) != tf.InvalidArgument {
		t.Errorf("a fetch that depends on a mistake: %v", err)
	}
	if _, err := s.Run(t.Context(), nil, a.Square()); err != nil {
		t.Errorf("a fetch that does not depend on it: %v", err)
	}
}

func TestNewRefuses(t *testing.T) {
	for name, f := range map[string]func() (*session.Session, error){
		"nil graph":   func() (*session.Session, error) { return session.New(nil) },
		"eager graph": func() (*session.Session, error) { return session.New(eager.New()) },
		"odd target":  func() (*session.Session, error) { return session.New(tf.NewGraph(), session.Target("somewhere")) },
		"no cluster": func() (*session.Session, error) {
			return session.New(tf.NewGraph(), session.Target("grpc://127.0.0.1:1"))
		},
		"odd device":   func() (*session.Session, error) { return session.New(tf.NewGraph(), session.Devices("TPU", 1)) },
		"other scheme": func() (*session.Session, error) { return session.New(tf.NewGraph(), session.Target("http://x")) },
	} {
		if s, err := f(); err == nil || s != nil {
			t.Errorf("%s: got %v, %v", name, s, err)
		}
	}
	_, err := session.New(tf.NewGraph(), session.Target("grpc://127.0.0.1:1"))
	if !strings.Contains(err.Error(), `import _ "github.com/gorge-tf/gorge/tf/cluster/client"`) {
		t.Errorf("a cluster's target does not say what to import: %v", err)
	}
}

func TestCancelAndClose(t *testing.T) {
	g := tf.NewGraph()
	y := ops.Scalar(g, float32(1)).Square()
	s, err := session.New(g)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.Run(ctx, nil, y); tf.CodeOf(err) != tf.Canceled {
		t.Errorf("with a context that has ended: %v", err)
	}
	for range 2 {
		if err := s.Close(); err != nil {
			t.Errorf("closing: %v", err)
		}
	}
	if _, err := s.Run(t.Context(), nil, y); tf.CodeOf(err) != tf.FailedPrecondition {
		t.Errorf("a session that has been closed: %v", err)
	}
}

func TestSeveralDevices(t *testing.T) {
	g := tf.NewGraph()
	x := ops.Placeholder(g, tf.Float32, tf.Shape{-1})
	var y tf.Output
	g.Device("/device:CPU:1", func() { y = x.Square() })
	z := y.Add(x, tf.OnDevice("/device:CPU:0"))
	s := open(t, g, session.Devices("CPU", 2))
	got, err := session.Fetch[float32](t.Context(), s, session.Feeds{x: vector(t, 2, 3)}, z)
	if err != nil || !slices.Equal(got, []float32{6, 12}) {
		t.Errorf("got %v, %v", got, err)
	}
	if _, err := open(t, g).Run(t.Context(), session.Feeds{x: vector(t, 1)}, z); err == nil || !strings.Contains(err.Error(), "Cannot assign a device") {
		t.Errorf("without the second device: %v", err)
	}
	soft := open(t, g, session.With(session.Config{SoftPlacement: true}))
	if _, err := soft.Run(t.Context(), session.Feeds{x: vector(t, 1)}, z); err != nil {
		t.Errorf("with soft placement: %v", err)
	}
}

func ExampleFetch() {
	g := tf.NewGraph()
	x := ops.Placeholder(g, tf.Float32, tf.Shape{})
	s, err := session.New(g)
	if err != nil {
		panic(err)
	}
	defer s.Close()
	y, err := session.Fetch[float32](context.Background(), s, session.Feeds{x: tf.Scalar(float32(3))}, x.Square())
	fmt.Println(y, err)
	// Output: [9] <nil>
}

// TestNothingToRunIn: a program that ignored an error, or has no context, is told so.
func TestNothingToRunIn(t *testing.T) {
	var none *session.Session
	_, noRun := none.Run(t.Context(), nil)
	_, noCallable := none.MakeCallable(nil)
	var c *session.Callable
	_, noStep := c.Run(t.Context())
	var p *session.PartialRun
	_, noPiece := p.Run(t.Context(), nil)
	for what, err := range map[string]error{"no session": noRun, "a callable of none": noCallable, "no callable": noStep, "no partial run": noPiece} {
		if tf.CodeOf(err) != tf.FailedPrecondition || !strings.Contains(err.Error(), "see the error that") {
			t.Errorf("%s: %v", what, err)
		}
	}
	if err := none.Close(); err != nil {
		t.Errorf("Close of no session: %v", err)
	}
	g := tf.NewGraph()
	y := ops.Scalar[float32](g, 1).Add(1)
	s, err := session.New(g)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	//lint:ignore SA1012 the point of the test
	if _, err := s.Run(nil, nil, y); tf.CodeOf(err) != tf.InvalidArgument || !strings.Contains(err.Error(), "needs a context") {
		t.Errorf("without a context: %v", err)
	}
}

// TestVariablesAreFetched: a session can be asked for a variable, by steps of all kinds.
func TestVariablesAreFetched(t *testing.T) {
	g := tf.NewGraph()
	v := tf.NewVariable(ops.Const(g, []float32{1, 2}), tf.VariableOptions{Name: "v"})
	r := tf.NewVariable(ops.Const(g, []float32{3}), tf.VariableOptions{Name: "r", Reference: true})
	init := tf.InitializeAll(g)
	s, err := session.New(g)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if _, err := s.Run(t.Context(), nil, v); tf.CodeOf(err) != tf.FailedPrecondition {
		t.Errorf("before it has a value: %v", err)
	}
	if _, err := s.Run(t.Context(), nil, init); err != nil {
		t.Fatal(err)
	}
	c, err := s.MakeCallable(nil, v, r)
	if err != nil {
		t.Fatal(err)
	}
	byRun, err := s.Run(t.Context(), nil, v, r)
	if err != nil {
		t.Fatal(err)
	}
	byCallable, err := c.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, got := range [][]*tf.Tensor{byRun, byCallable} {
		if text := fmt.Sprint(got); text != "[float32[2]{1, 2} float32[1]{3}]" {
			t.Errorf("got %s", text)
		}
	}
	var none *tf.Variable
	other := tf.NewVariable(ops.Scalar[float32](tf.NewGraph(), 0), tf.VariableOptions{})
	for what, f := range map[string]tf.Fetchable{"no variable": none, "a variable of another graph": other} {
		if _, err := s.Run(t.Context(), nil, f); tf.CodeOf(err) != tf.InvalidArgument {
			t.Errorf("%s: %v", what, err)
		}
	}
}
