package session_test

import (
	"context"
	"log/slog"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/session"
	"github.com/gorge-tf/gorge/tf/tftest"
)

func TestInteractive(t *testing.T) {
	g := tf.NewGraph()
	x := ops.Placeholder(g, tf.Float32, tf.Shape{})
	y := x.Add(ops.Scalar(g, float32(1)))
	feeds := session.Feeds{x: tf.Scalar(float32(2))}
	if _, err := y.Eval(t.Context(), feeds); err == nil || !strings.Contains(err.Error(), "No default session is registered") {
		t.Errorf("without a session: %v", err)
	}
	first, err := session.Interactive(g)
	if err != nil {
		t.Fatal(err)
	}
	second, err := session.Interactive(g, session.Devices("CPU", 2))
	if err != nil {
		t.Fatal(err)
	}
	for _, close := range []func() error{second.Close, first.Close} {
		if v, err := y.Eval(t.Context(), feeds); err != nil || v.At(0) != float32(3) {
			t.Errorf("Eval: %v, %v", v, err)
		}
		if err := y.Operation().Run(t.Context(), feeds); err != nil {
			t.Errorf("Run: %v", err)
		}
		if err := close(); err != nil {
			t.Fatal(err)
		}
	}
	if err := y.Operation().Run(t.Context(), feeds); err == nil || !strings.Contains(err.Error(), "Cannot execute operation") {
		t.Errorf("after Close: %v", err)
	}
	other := open(t, tf.NewGraph())
	if _, err := y.Eval(other.AsDefault(t.Context()), feeds); err == nil || !strings.Contains(err.Error(), "the tensor's graph is different from the session's graph") {
		t.Errorf("another graph's session: %v", err)
	}
	if v, err := y.Eval(open(t, g).AsDefault(t.Context()), feeds); err != nil || v.At(0) != float32(3) {
		t.Errorf("in a context: %v, %v", v, err)
	}
	if _, err := session.Interactive(nil); err == nil {
		t.Error("no graph: no error")
	}
}

// TestSharedGraph: sessions on one graph have variables of their own, and
// outlive each other.
func TestSharedGraph(t *testing.T) {
	g := tf.NewGraph()
	v := ops.VariableV2(g, tf.Float32, tf.Shape{}, tf.Name("v"))
	set := ops.Assign(v, ops.Scalar(g, float32(7)))
	a, err := session.New(g)
	if err != nil {
		t.Fatal(err)
	}
	b := open(t, g)
	if _, err := a.Run(t.Context(), nil, set); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Run(t.Context(), nil, v); tf.CodeOf(err) != tf.FailedPrecondition {
		t.Errorf("the other session's variable: %v", err)
	}
	if err := a.Close(); err != nil {
		t.Fatal(err)
	}
	added := ops.Identity(v).Neg()
	if out, err := b.Run(t.Context(), nil, set); err != nil || out[0].At(0) != float32(7) {
		t.Errorf("after the other was closed: %v, %v", out, err)
	}
	if out, err := b.Run(t.Context(), nil, added); err != nil || out[0].At(0) != float32(-7) {
		t.Errorf("what was added: %v, %v", out, err)
	}
	for name, use := range map[string]func() error{
		"Run":          func() error { _, err := a.Run(t.Context(), nil, set); return err },
		"MakeCallable": func() error { _, err := a.MakeCallable(nil, set); return err },
		"PartialRun":   func() error { _, err := a.PartialRun(t.Context(), nil, set); return err },
	} {
		if err := use(); err == nil || !strings.Contains(err.Error(), "Attempted to use a closed Session.") {
			t.Errorf("%s after Close: %v", name, err)
		}
	}
}

// copies reports whether got has the elements of want in memory of its own.
func copies(got, want *tf.Tensor) bool {
	return got != want && tftest.Diff(want, got) == "" && &tf.Data[float32](got)[0] != &tf.Data[float32](want)[0]
}

func TestFedAndFetched(t *testing.T) {
	g := tf.NewGraph()
	x := ops.Placeholder(g, tf.Float32, tf.Shape{-1})
	y := x.Neg()
	z := y.Square()
	s := open(t, g)
	v := vector(t, 1, 2)
	out, err := s.Run(t.Context(), session.Feeds{x: v}, x, y, x, y.Operation())
	if err != nil || !copies(out[0], v) || !copies(out[2], v) || out[3] != nil || out[1].String() != "float32[2]{-1, -2}" {
		t.Errorf("got %v, %v", out, err)
	}
	if out, err = s.Run(t.Context(), session.Feeds{y: v}, y); err != nil || !copies(out[0], v) {
		t.Errorf("only what is fed: %v, %v", out, err)
	}
	if out, err = s.Run(t.Context(), session.Feeds{y: v}, z, y); err != nil || out[0].String() != "float32[2]{1, 4}" || !copies(out[1], v) {
		t.Errorf("an intermediate result: %v, %v", out, err)
	}
	c, err := s.MakeCallable([]tf.Output{y}, y, z)
	if err != nil {
		t.Fatal(err)
	}
	if out, err = c.Run(t.Context(), v); err != nil || !copies(out[0], v) || out[1].String() != "float32[2]{1, 4}" {
		t.Errorf("callable: %v, %v", out, err)
	}
	if c, err = s.MakeCallable([]tf.Output{y}, y); err != nil {
		t.Fatal(err)
	}
	if out, err = c.Run(t.Context(), v); err != nil || !copies(out[0], v) {
		t.Errorf("callable of what is fed: %v, %v", out, err)
	}
}

func TestRunWithOptions(t *testing.T) {
	g := tf.NewGraph()
	x := ops.Placeholder(g, tf.Float32, tf.Shape{-1}, tf.Name("x"))
	y := x.Square(tf.Name("y"), tf.OnDevice("/device:CPU:1"))
	s := open(t, g, session.With(session.Config{Devices: map[string]int{"CPU": 2}, InterOpPools: []int{1, 2}, CostModelEvery: 1}))
	feeds := session.Feeds{x: vector(t, 3)}
	out, m, err := s.RunWithOptions(t.Context(), session.RunOptions{Trace: session.FullTrace, PartitionGraphs: true, InterOpPool: 1}, feeds, y)
	if err != nil || out[0].At(0) != float32(9) {
		t.Fatalf("got %v, %v", out, err)
	}
	if len(m.GetStepStats().GetDevStats()) != 2 || len(m.GetPartitionGraphs()) != 2 || len(m.GetCostGraph().GetNode()) == 0 {
		t.Errorf("metadata %v", m)
	}
	wire, err := proto.Marshal(m)
	if err != nil || len(wire) == 0 {
		t.Errorf("on the wire: %d bytes, %v", len(wire), err)
	}
	for name, c := range map[string]struct {
		o    session.RunOptions
		want string
	}{
		"pool":          {session.RunOptions{InterOpPool: 2}, "Invalid inter_op_thread_pool: 2"},
		"negative pool": {session.RunOptions{InterOpPool: -2}, "Invalid inter_op_thread_pool: -2"},
		"level":         {session.RunOptions{Trace: 9}, "a trace level must be"},
		"timeout":       {session.RunOptions{Timeout: -time.Second}, "must not be negative"},
	} {
		if _, _, err := s.RunWithOptions(t.Context(), c.o, feeds, y); tf.CodeOf(err) != tf.InvalidArgument || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %q", name, err, c.want)
		}
	}
	if _, m, err = s.RunWithOptions(t.Context(), session.RunOptions{InterOpPool: -1}, feeds, x); err != nil || m == nil {
		t.Errorf("only what is fed: %v, %v", m, err)
	}
}

func TestPartialRun(t *testing.T) {
	g := tf.NewGraph()
	a, b, c := ops.Placeholder(g, tf.Float32, tf.Shape{}), ops.Placeholder(g, tf.Float32, tf.Shape{}), ops.Placeholder(g, tf.Float32, tf.Shape{})
	r1 := a.Add(b)
	r2 := r1.Mul(c)
	v := ops.VariableV2(g, tf.Float32, tf.Shape{})
	set := ops.Assign(v, r2)
	s := open(t, g)
	p, err := s.PartialRun(t.Context(), []tf.Output{a, b, c}, r1, r2, set.Operation())
	if err != nil {
		t.Fatal(err)
	}
	scalar := func(x float32) tf.Value { return tf.Scalar(x) }
	out, err := p.Run(t.Context(), session.Feeds{a: scalar(1), b: scalar(2)}, r1, a)
	if err != nil || out[0].At(0) != float32(3) || out[1].At(0) != float32(1) {
		t.Fatalf("got %v, %v", out, err)
	}
	if _, err := p.Run(t.Context(), session.Feeds{a: scalar(1)}, r2); err == nil || !strings.Contains(err.Error(), "has already been fed.") {
		t.Errorf("fed again: %v", err)
	}
	if out, err = p.Run(t.Context(), session.Feeds{c: scalar(4)}, r2); err != nil || out[0].At(0) != float32(12) {
		t.Errorf("got %v, %v", out, err)
	}
	if out, err = s.Run(t.Context(), nil, v); err != nil || out[0].At(0) != float32(12) {
		t.Errorf("the target has not been run: %v, %v", out, err)
	}
	if p, err = s.PartialRun(t.Context(), []tf.Output{a, b}, r1); err != nil {
		t.Fatal(err)
	}
	p.Close()
	if _, err := s.PartialRun(t.Context(), []tf.Output{a}); err == nil || !strings.Contains(err.Error(), "Must specify at least one target to fetch or execute.") {
		t.Errorf("nothing to fetch: %v", err)
	}
	if _, err := s.PartialRun(t.Context(), []tf.Output{{}}, r1); err == nil {
		t.Error("no feed: no error")
	}
}

type records struct {
	slog.Handler
	text *strings.Builder
}

func (records) Enabled(context.Context, slog.Level) bool { return true }

func (r records) Handle(_ context.Context, x slog.Record) error {
	r.text.WriteString(x.Message)
	return nil
}

func TestLogDevicePlacement(t *testing.T) {
	g := tf.NewGraph()
	y := ops.Scalar(g, float32(1), tf.Name("y"))
	log := records{text: &strings.Builder{}}
	s := open(t, g, session.With(session.Config{LogDevicePlacement: true, Log: log}))
	if _, err := s.Run(t.Context(), nil, y); err != nil {
		t.Fatal(err)
	}
	if want := "y: (Const): /job:localhost/replica:0/task:0/device:CPU:0"; !strings.Contains(log.text.String(), want) {
		t.Errorf("logged %q, want %q in it", log.text, want)
	}
}
