package train_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/eager"
	"github.com/gorge-tf/gorge/tf/initializers"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/session"
	"github.com/gorge-tf/gorge/tf/tftest"
	"github.com/gorge-tf/gorge/tf/train"
	"github.com/gorge-tf/gorge/tf/vars"
)

// An eagerModel is a variable, whole or in parts, that is trained.
type eagerModel struct {
	t    *testing.T
	g    *tf.Graph
	vars []*tf.Variable
	o    train.Optimizer
}

func newEagerModel(t *testing.T, o train.Optimizer, parts bool) *eagerModel {
	m := &eagerModel{t: t, g: eager.New(), o: o}
	if !parts {
		m.vars = []*tf.Variable{tf.NewVariable(ops.Const(m.g, []float32{5, -3, 2, 1}), tf.VariableOptions{Name: "w"})}
		return m
	}
	vars.Scope(m.g, "s", vars.ScopeOptions{Partitioner: vars.FixedSize(2, 0)}, func() {
		m.vars = vars.GetPartitioned(m.g, "w", tf.Shape{4}, vars.Options{Initializer: initializers.Constant(3)}).Parts
	})
	return m
}

func (m *eagerModel) step() {
	m.t.Helper()
	var loss tf.Output
	tape := eager.Record(m.g, func() {
		loss = ops.Scalar[float32](m.g, 0)
		for _, v := range m.vars {
			loss = loss.Add(v.Value().Square().Sum())
		}
	})
	gvs, err := train.TapeGradients(tape, loss, m.vars...)
	if err == nil {
		_, err = m.o.ApplyGradients(gvs)
	}
	if err != nil {
		m.t.Fatal(err)
	}
}

func (m *eagerModel) saver() *train.Saver {
	m.t.Helper()
	s, err := train.NewSaver(m.g, train.SaverOptions{})
	if err != nil {
		m.t.Fatal(err)
	}
	return s
}

// TestSlotsAreRestoredWhenTheyAreMade: training goes on as if there had been no break, although
// optimizers make their slots after Restore, on a tape or while a function is traced. A saver
// that was made before saves them, too.
func TestSlotsAreRestoredWhenTheyAreMade(t *testing.T) {
	for name, o := range map[string]train.Optimizer{"Momentum": train.Momentum{LearningRate: 0.1, Momentum: 0.9}, "Adam": train.Adam{LearningRate: 0.1}} {
		for _, parts := range []bool{false, true} {
			for _, traced := range []bool{false, true} {
				dir := t.TempDir()
				m := newEagerModel(t, o, parts)
				s := m.saver() // without slots yet
				m.step()
				m.step()
				path, err := s.Save(t.Context(), nil, filepath.Join(dir, "m"))
				if err != nil {
					t.Fatal(err)
				}
				next := newEagerModel(t, o, parts)
				s = next.saver()
				if err := s.Restore(t.Context(), nil, path); err != nil || len(s.Waiting()) == 0 {
					t.Fatal(s.Waiting(), err)
				}
				step := next.step
				if traced {
					f := eager.NewFunc(next.g, "step", func([]tf.Output, ...any) []tf.Output { next.step(); return nil })
					step = func() { f.Call(nil) }
				}
				for range 2 {
					m.step()
					step()
				}
				for i, v := range next.vars {
					want, _ := m.vars[i].Value().Value()
					if got, err := v.Value().Value(); err != nil || !tftest.Equal(t, got, want, tftest.Within(1e-6, 1e-6)) {
						t.Errorf("%s, parts %v, traced %v: %v %v, want %v", name, parts, traced, got, err, want)
					}
				}
				if left := s.Waiting(); !parts && len(left) > 0 {
					t.Errorf("%s: %v have no variable", name, left)
				}
			}
		}
	}
}

// TestWhatWaitsMustFit: a variable that cannot take the value which waits for it says so.
func TestWhatWaitsMustFit(t *testing.T) {
	dir := t.TempDir()
	write := func(name string, value tf.Output) string {
		g := value.Graph()
		tf.NewVariable(ops.Scalar[float32](g, 1), tf.VariableOptions{Name: "w"})
		tf.NewVariable(value, tf.VariableOptions{Name: "later"})
		s, err := train.NewSaver(g, train.SaverOptions{})
		if err != nil {
			t.Fatal(err)
		}
		path, err := s.Save(t.Context(), nil, filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		return path
	}
	for name, c := range map[string]struct {
		value func(g *tf.Graph) tf.Output
		gone  bool
		want  string
	}{
		"shape": {value: func(g *tf.Graph) tf.Output { return ops.Const(g, []float32{1, 2}) }, want: "later is float32[3] in the graph, float32[2] in the checkpoint"},
		"type":  {value: func(g *tf.Graph) tf.Output { return ops.Const(g, []int32{1, 2, 3}) }, want: "later is float32[3] in the graph, int32[3] in the checkpoint"},
		"gone":  {value: func(g *tf.Graph) tf.Output { return ops.Const(g, []float32{1, 2, 3}) }, gone: true, want: "should begin with its value in checkpoint"},
	} {
		path := write(name, c.value(eager.New()))
		g := eager.New()
		w := tf.NewVariable(ops.Scalar[float32](g, 0), tf.VariableOptions{Name: "w"})
		s, err := train.NewSaver(g, train.SaverOptions{})
		if err == nil {
			err = s.Restore(t.Context(), nil, path)
		}
		if got := s.Waiting(); err != nil || !slices.Equal(got, []string{"later"}) {
			t.Fatal(name, got, err)
		}
		if c.gone {
			if err := os.Remove(path + ".index"); err != nil {
				t.Fatal(err)
			}
		}
		v := tf.NewVariable(ops.Const(g, make([]float32, 3)), tf.VariableOptions{Name: "later"})
		if _, err := v.Value().Value(); err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "variable later should begin with") {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := w.Value().Value(); err != nil {
			t.Error(name, err)
		}
	}
}

// TestOlderCheckpointsOfEagerGraphs: variables that are newer than the saver and the checkpoint
// keep their values.
func TestOlderCheckpointsOfEagerGraphs(t *testing.T) {
	m := newEagerModel(t, train.Momentum{LearningRate: 0.1, Momentum: 0.9}, false)
	s := m.saver()
	path, err := s.Save(t.Context(), nil, filepath.Join(t.TempDir(), "m"))
	if err != nil {
		t.Fatal(err)
	}
	m.step()
	if err := s.Restore(t.Context(), nil, path); err != nil {
		t.Error(err)
	}
	if got, err := m.vars[0].Value().Value(); err != nil || tf.Data[float32](got)[0] != 5 {
		t.Error(got, err)
	}
}

// TestSaversOfEagerGraphsHaveNoSession and end with their contexts, each time.
func TestSaversOfEagerGraphsHaveNoSession(t *testing.T) {
	m := newEagerModel(t, nil, false)
	s := m.saver()
	file := filepath.Join(t.TempDir(), "m")
	if _, err := s.Save(t.Context(), (*session.Session)(nil), file); err != nil {
		t.Fatal(err)
	}
	r, err := session.New(tf.NewGraph())
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	const text = "variables of an eager graph have their values in the graph: a saver takes nil as its session, got a *session.Session"
	_, saved := s.Save(t.Context(), r, file)
	_, begun := s.SaveAsync(t.Context(), r, file)
	for _, err := range []error{saved, begun, s.Restore(t.Context(), r, file)} {
		if !says(err, tf.InvalidArgument, text) || strings.Contains(err.Error(), "Restoring") {
			t.Error(err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for range 20 {
		_, saved := s.Save(ctx, nil, file)
		for _, err := range []error{saved, s.Restore(ctx, nil, file)} {
			if !says(err, tf.Canceled, "CANCELLED: context canceled") || !errors.Is(err, context.Canceled) {
				t.Fatal(err)
			}
		}
	}
}

// TestSaversNeedASessionOnTheirGraph, which is no matter of the checkpoint.
func TestSaversNeedASessionOnTheirGraph(t *testing.T) {
	path := warm(t)
	g := tf.NewGraph()
	tf.NewVariable(ops.Scalar(g, float32(9)), tf.VariableOptions{Name: "w"})
	s, other := newSaver(t, g, train.SaverOptions{}), begin(t, tf.NewGraph(), false)
	for want, r := range map[string]*session.Session{"a saver needs a session on its own graph, got one on another": other, "a session, got none": nil} {
		_, saved := s.Save(t.Context(), r, path+"2")
		_, begun := s.SaveAsync(t.Context(), r, path+"2")
		for _, err := range []error{saved, begun, s.Restore(t.Context(), r, path)} {
			if !says(err, tf.InvalidArgument, want) || strings.Contains(err.Error(), "Restoring") {
				t.Errorf("%v, want %s", err, want)
			}
		}
	}
}
