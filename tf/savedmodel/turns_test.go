package savedmodel_test

import (
	"context"
	"errors"
	"sync"
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/savedmodel"
	"github.com/gorge-tf/gorge/tf/session"
)

// held counts the runs that are in the operation below, which returns when something
// is sent to release.
var (
	held, most int
	counting   sync.Mutex // guards both
	entered    = make(chan struct{}, 100)
	release    = make(chan struct{})
)

// count changes held.
func count(by int) {
	counting.Lock()
	defer counting.Unlock()
	held += by
	most = max(most, held)
}

func init() {
	core.Register(core.OpDef{
		Name: "SavedModelTestHeld", In: "x: float", Out: "y: float", Shape: core.UnchangedShape, NoGrad: core.NotDifferentiable,
		Kernels: core.AnyType(func(*core.Node) (core.Kernel, error) {
			return core.Compute(func(c *core.OpContext) error {
				count(1)
				entered <- struct{}{}
				<-release
				count(-1)
				c.Forward(0, 0)
				return nil
			}), nil
		}),
	})
}

// TestTurns: no more runs are under way than is said, those that wait end with their
// context, and all others run.
func TestTurns(t *testing.T) {
	g := tf.NewGraph()
	x := ops.Placeholder(g, tf.Float32, tf.Shape{}, tf.Name("x"))
	y := tf.Apply(g, "SavedModelTestHeld", []tf.Output{x}).Output(0)
	s, err := session.New(g)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	dir := t.TempDir() + "/model"
	sig := savedmodel.Predict(map[string]tf.Output{"x": x}, map[string]tf.Output{"y": y})
	mg := savedmodel.MetaGraph{Session: s, Signatures: map[string]savedmodel.SignatureSpec{"serving_default": sig}}
	if err := new(savedmodel.Builder).Add(mg).Save(t.Context(), dir); err != nil {
		t.Fatal(err)
	}
	const bound, clients = 3, 20
	m, err := savedmodel.Load(t.Context(), dir, savedmodel.Options{Runs: bound})
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	run := func(ctx context.Context) error {
		_, err := m.Signature("serving_default").Run(ctx, map[string]any{"x": float32(1)})
		return err
	}
	var wg sync.WaitGroup
	for range clients {
		wg.Go(func() {
			if err := run(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
	for range bound {
		<-entered
	}
	late, cancel := context.WithTimeout(t.Context(), 1)
	defer cancel()
	if err := run(late); tf.CodeOf(err) != tf.DeadlineExceeded || !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a run whose time is up while it waits: %v", err)
	}
	for range clients {
		release <- struct{}{}
	}
	wg.Wait()
	if most != bound {
		t.Errorf("%d runs were under way at once, want %d", most, bound)
	}
}
