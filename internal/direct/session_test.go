package direct

import (
	"context"
	"strings"
	"sync"
	"testing"

	"github.com/gorge-tf/gorge/internal/pass"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/ops"
)

func init() {
	wait := func(n *core.Node) (core.Kernel, error) {
		return core.AsyncCompute(func(c *core.OpContext, done func(error)) {
			started <- struct{}{}
			context.AfterFunc(c.StepContext(), func() { done(&core.Error{Code: core.Canceled, Msg: "waited", Derived: true}) })
		}), nil
	}
	core.Register(core.OpDef{Name: "TestWait", Out: "y: float", Stateful: true, Kernels: core.AnyType(wait), NoGrad: core.NotDifferentiable,
		Shape: func(*core.Infer) error { return nil }})
}

// started tells that a TestWait kernel runs.
var started = make(chan struct{}, 16)

func TestRunFeedsAndFetches(t *testing.T) {
	g := tf.NewGraph()
	x := ops.Placeholder(g, core.Float32, core.Shape{})
	y := ops.Mul(x, x)
	s := open(t, g, 1)
	var kept []*core.Tensor
	for i := range 3 {
		out, err := fetch(t.Context(), s, map[tf.Output]*core.Tensor{x: core.Scalar(float32(i))}, y)
		if err != nil {
			t.Fatal(err)
		}
		kept = append(kept, out...)
	}
	for i, v := range kept { // results are the program's, later steps do not touch them
		if v.At(0) != float32(i*i) {
			t.Errorf("step %d gave %v", i, v)
		}
	}
}

func TestGraphGrows(t *testing.T) {
	g := tf.NewGraph()
	x := ops.Scalar[float32](g, 2)
	s := open(t, g, 2)
	if _, err := s.Run(t.Context(), pass.Signature{Fetches: []string{"later:0"}}, nil); core.CodeOf(err) != core.NotFound {
		t.Errorf("before: %v", err)
	}
	y := ops.Neg(x, tf.Name("later"))
	out, err := fetch(t.Context(), s, nil, y)
	if err != nil || out[0].At(0) != float32(-2) {
		t.Errorf("after: %v, %v", out, err)
	}
}

// TestStateIsKept: a variable is the same for all signatures, also after the
// graph has grown.
func TestStateIsKept(t *testing.T) {
	g := tf.NewGraph()
	var v tf.Output
	g.Device("/device:CPU:1", func() {
		v = tf.Apply(g, "VariableV2", nil, tf.Attr("dtype", core.Float32), tf.Attr("shape", core.Shape{}), tf.Name("v")).Output(0)
	})
	set := tf.Apply(g, "Assign", []tf.Output{v, ops.Scalar[float32](g, 5)})
	s := open(t, g, 2)
	if _, err := s.Run(t.Context(), pass.Signature{Targets: []string{set.Name}}, nil); err != nil {
		t.Fatal(err)
	}
	y := ops.Neg(v)
	out, err := fetch(t.Context(), s, nil, v, y)
	if err != nil || out[0].At(0) != float32(5) || out[1].At(0) != float32(-5) {
		t.Errorf("got %v, %v", out, err)
	}
}

func TestErrors(t *testing.T) {
	g := tf.NewGraph()
	x := ops.Placeholder(g, core.Float32, core.Shape{}, tf.Name("x"))
	g.Device("/device:CPU:1", func() { ops.Identity(ops.Neg(x), tf.Name("y")) })
	s := open(t, g, 2)
	for _, c := range []struct {
		sig  pass.Signature
		args []*core.Tensor
		code core.Code
		want string
	}{
		{pass.Signature{Fetches: []string{"y:0"}}, nil, core.InvalidArgument, "You must feed a value for placeholder tensor 'x' with dtype float"},
		{pass.Signature{Feeds: []string{"x:0"}, Fetches: []string{"y:0"}}, nil, core.InvalidArgument, "there must be a value for each feed: 1 feeds, 0 values"},
		{pass.Signature{Feeds: []string{"x:0"}, Fetches: []string{"y:0"}}, []*core.Tensor{core.Scalar[int32](1)}, core.InvalidArgument, "Type mismatch: actual int32 vs. expect float"},
		{pass.Signature{}, nil, core.InvalidArgument, "Must specify at least one target"},
	} {
		for range 2 {
			_, err := s.Run(t.Context(), c.sig, c.args)
			if core.CodeOf(err) != c.code || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v: got %v, want %s", c.sig, err, c.want)
			}
		}
	}
}

// waiting is a graph in which two devices wait for something that never comes.
func waiting(t *testing.T) (*Session, pass.Signature) {
	g := tf.NewGraph()
	w := tf.Apply(g, "TestWait", nil, tf.OnDevice("/device:CPU:0"))
	y := ops.Neg(w.Output(0), tf.OnDevice("/device:CPU:1"))
	return open(t, g, 2), pass.Signature{Fetches: []string{y.Name()}}
}

func TestCancel(t *testing.T) {
	s, sig := waiting(t)
	ctx, cancel := context.WithCancel(t.Context())
	go func() { <-started; cancel() }()
	_, err := s.Run(ctx, sig, nil)
	if core.CodeOf(err) != core.Canceled || !strings.Contains(err.Error(), "Run call was cancelled") {
		t.Errorf("got %v", err)
	}
	if _, err = s.Run(ctx, sig, nil); core.CodeOf(err) != core.Canceled {
		t.Errorf("with a context that has ended: %v", err)
	}
}

func TestDeadline(t *testing.T) {
	s, sig := waiting(t)
	ctx, cancel := context.WithCancelCause(t.Context())
	go func() { <-started; cancel(context.DeadlineExceeded) }()
	_, err := s.Run(ctx, sig, nil)
	if core.CodeOf(err) != core.DeadlineExceeded || !strings.Contains(err.Error(), "Timed out waiting for notification") {
		t.Errorf("got %v", err)
	}
}

// TestClose: closing ends the steps that run, waits for them, and no other
// begins.
func TestClose(t *testing.T) {
	s, sig := waiting(t)
	errs := make(chan error)
	go func() {
		_, err := s.Run(context.Background(), sig, nil)
		errs <- err
	}()
	<-started
	closed := make(chan struct{})
	go func() {
		s.Close()
		close(closed)
	}()
	if err := <-errs; core.CodeOf(err) != core.Canceled || !strings.Contains(err.Error(), "Session::Close()") {
		t.Errorf("the step ended with %v", err)
	}
	<-closed
	if _, err := s.Run(t.Context(), sig, nil); core.CodeOf(err) != core.Canceled || !strings.Contains(err.Error(), "Session has been closed.") {
		t.Errorf("afterwards: %v", err)
	}
	if err := s.Close(); err != nil {
		t.Errorf("closed twice: %v", err)
	}
}

// TestManySteps runs different signatures at once, on several devices, while
// the graph grows.
func TestManySteps(t *testing.T) {
	g := tf.NewGraph()
	x := ops.Placeholder(g, core.Float32, core.Shape{})
	ys := []tf.Output{ops.Neg(x, tf.OnDevice("/device:CPU:1"))}
	for range 5 {
		y := ys[len(ys)-1]
		ys = append(ys, ops.Sub(y, x, tf.OnDevice("/device:CPU:0")), ops.Identity(y, tf.OnDevice("/device:CPU:1")))
	}
	s := open(t, g, 2)
	var group sync.WaitGroup
	for i := range 4 {
		group.Go(func() {
			for k := range 40 {
				v := float32(i*100 + k)
				out, err := fetch(t.Context(), s, map[tf.Output]*core.Tensor{x: core.Scalar(v)}, ys[(i+k)%len(ys)], ys[0])
				if err != nil || out[1].At(0) != -v {
					t.Errorf("got %v, %v", out, err)
				}
			}
		})
	}
	for range 20 {
		ops.Neg(x)
	}
	group.Wait()
}

func TestContextValues(t *testing.T) {
	type key struct{}
	s := open(t, tf.NewGraph(), 1)
	ctx, release := s.within(context.WithValue(context.Background(), key{}, "v"), &sessionContext{})
	defer release()
	if ctx.Value(key{}) != "v" || ctx.Done() == nil {
		t.Errorf("value %v, can end: %v", ctx.Value(key{}), ctx.Done() != nil)
	}
}
