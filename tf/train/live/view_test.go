package live_test

import (
	"bytes"
	"errors"
	"io"
	"math"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/train"
	"github.com/gorge-tf/gorge/tf/train/live"
)

// pictures splits what a view has written.
func pictures(text string) []string {
	var out []string
	for _, p := range strings.Split(text, "\x1b[J") {
		if i := strings.LastIndex(p, "\x1b["); i >= 0 {
			p = p[:i]
		}
		out = append(out, p)
	}
	return out
}

// TestView draws at most every so often, over the picture before.
func TestView(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out strings.Builder
		v := live.New(&out, live.Options{LastStep: 100, Every: time.Second, Width: 20, Height: 3})
		for i := range 30 {
			if err := v.Step(int64(i+1), 1/float64(i+1)); err != nil {
				t.Fatal(err)
			}
			time.Sleep(250 * time.Millisecond)
		}
		if err := v.Close(); err != nil {
			t.Fatal(err)
		}
		all := pictures(out.String())
		if len(all) != 9 { // at 0, 1, … 7 seconds and at the end
			t.Errorf("%d pictures", len(all))
		}
		last := all[len(all)-1]
		if want := "step 30 of 100  loss 0.0333  4.0 steps/s  18s left\n"; !strings.HasSuffix(last, want) || strings.Count(last, "\n") != 5 {
			t.Errorf("the last picture is\n%s", last)
		}
		if up := "\x1b[5A\x1b[J" + last; !strings.HasSuffix(out.String(), up) {
			t.Errorf("the last picture does not begin where the one before did: %q", out.String())
		}
		if all[0] != "step 1 of 100  loss 1.0000\n" {
			t.Errorf("the first picture is %q", all[0])
		}
	})
}

// TestLongView keeps the width, however many steps there are, and leaves out what is no
// number.
func TestLongView(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out strings.Builder
		v := live.New(&out, live.Options{Every: time.Hour, Width: 30, Height: 4})
		for i := range 100_000 {
			loss := 5.0
			if i%1000 == 7 {
				loss = math.NaN()
			}
			_ = v.Step(int64(i), loss)
		}
		_ = v.Close()
		for _, line := range strings.Split(out.String(), "\n") {
			if len([]rune(line)) > 70 || strings.Contains(line, "NaN") {
				t.Errorf("%q", line)
			}
		}
	})
}

type broken struct{}

func (broken) Write([]byte) (int, error) { return 0, io.ErrClosedPipe }

func TestViewFails(t *testing.T) {
	v := live.New(broken{}, live.Options{})
	if err := v.Step(1, 1); !errors.Is(err, io.ErrClosedPipe) {
		t.Error(err)
	}
	if err := v.Close(); !errors.Is(err, io.ErrClosedPipe) {
		t.Error(err)
	}
	if f, err := os.Open(os.DevNull); err != nil || live.IsTerminal(f) || live.IsTerminal(&bytes.Buffer{}) {
		t.Error("neither is a terminal", err)
	}
}

// TestHook shows a training.
func TestHook(t *testing.T) {
	g := tf.NewGraph()
	v := tf.NewVariable(ops.Scalar(g, float32(4)), tf.VariableOptions{})
	loss := v.Value().Square()
	step := train.GetOrCreateGlobalStep(g)
	op := train.Minimize(train.GradientDescent{LearningRate: 0.1}, loss, train.Options{GlobalStep: step})
	var out strings.Builder
	h := &live.Hook{Out: &out, Loss: loss, Options: live.Options{LastStep: 10, Every: time.Nanosecond}}
	m, err := train.NewMonitoredSession(t.Context(), g, train.MonitoredOptions{Hooks: []train.Hook{h, &train.StopAtStepHook{LastStep: 10}}})
	if err != nil {
		t.Fatal(err)
	}
	if err := m.Train(t.Context(), op); err != nil {
		t.Fatal(err)
	}
	if all := pictures(out.String()); len(all) != 11 || !strings.Contains(all[10], "of 10  loss 0.") {
		t.Errorf("%d pictures: %s", len(all), all[len(all)-1])
	}
	for _, bad := range []*live.Hook{{Loss: loss}, {Out: &out}, {Out: &out, Loss: step.Value()}} {
		if err := bad.Begin(g); tf.CodeOf(err) != tf.InvalidArgument {
			t.Error(err)
		}
	}
	if err := (&live.Hook{Out: &out, Loss: loss}).Begin(tf.NewGraph()); tf.CodeOf(err) != tf.FailedPrecondition {
		t.Error(err)
	}
}

// TestExtremeLosses draws curves of the largest and the smallest numbers.
func TestExtremeLosses(t *testing.T) {
	for _, losses := range [][]float64{
		{math.MaxFloat64, -math.MaxFloat64}, {math.SmallestNonzeroFloat64, 0, 0}, {1e308, 1e308, 1}, {1e300, 1e300, 1}, {-1e300, 1e300},
		{0, 0, 0}, {2e-300, 1e-300}, {1, math.Nextafter(1, 2)}, {1e300, math.Nextafter(1e300, 0)},
		{1e20, 1e20}, {-1e16, -1e16}, {1e300, 1e300}, {math.NaN(), math.Inf(1), 1, 2},
	} {
		var out strings.Builder
		v := live.New(&out, live.Options{Every: 1})
		for i, x := range losses {
			if err := v.Step(int64(i+1), x); err != nil {
				t.Error(losses, err)
			}
		}
		if err := v.Close(); err != nil || !strings.Contains(out.String(), "──") {
			t.Errorf("%v: %v, %q", losses, err, out.String())
		}
	}
}
