package serving

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/gorge-tf/gorge/tf"
)

// only returns m with versions, each with a label of its own.
func only(m Model, labels map[string]int64) Model {
	m.Labels, m.Versions = labels, VersionPolicy{}
	for _, v := range labels {
		m.Versions.Specific = append(m.Versions.Specific, v)
	}
	return m
}

// TestReloadOfUnloading: a reload gives a label to a version that requests still hold
// after an earlier one has taken it away. It waits until that has been unloaded, and is
// loaded again.
func TestReloadOfUnloading(t *testing.T) {
	m := Model{Name: "m", BasePath: models(t, 1, 2)}
	s := serve(t, Config{Models: []Model{only(m, map[string]int64{"old": 1})}}, "")
	held := s.m.At("m", 1)
	if err := s.Reload(t.Context(), []Model{only(m, map[string]int64{"new": 2})}); err != nil {
		t.Fatal(err)
	}
	both := []Model{only(m, map[string]int64{"old": 1, "new": 2})}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	noticed := make(chan error, 1)
	go func() {
		noticed <- s.m.Wait(ctx, func() bool { return s.m.Coming("m", 1) })
		cancel()
	}()
	if err := s.Reload(ctx, both); tf.CodeOf(err) != tf.Canceled {
		t.Errorf("while a request has the version: %v, want an error of the context", err)
	}
	if err := <-noticed; err != nil {
		t.Fatal(err)
	}
	old := held.Model
	held.Release()
	if err := s.Reload(t.Context(), both); err != nil {
		t.Errorf("after that: %v", err)
	}
	now := s.m.At("m", 1)
	if now == nil {
		t.Fatal("the version is not there")
	}
	defer now.Release()
	if now.Model == old {
		t.Error("the version has not been loaded again")
	}
}

// TestReloadAfterOthers: a model of a name that another one has had before is judged by its
// own versions.
func TestReloadAfterOthers(t *testing.T) {
	for name, c := range map[string]struct {
		dir  string
		held bool // requests still hold what was there before
	}{"damaged": {damaged(t, 2), false}, "none": {t.TempDir(), false}, "none so far": {t.TempDir(), true}} {
		t.Run(name, func(t *testing.T) {
			s := serve(t, Config{}, models(t, 1))
			h := s.m.At("m", 1)
			if c.held {
				defer h.Release()
			} else {
				h.Release()
			}
			ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
			defer cancel()
			if err := s.Reload(ctx, nil); err != nil {
				t.Fatal(err)
			}
			if !c.held {
				settle(t, s)
			}
			if err := s.Reload(ctx, []Model{{Name: "m", BasePath: c.dir}}); tf.CodeOf(err) != tf.Unknown {
				t.Errorf("the reload ends with %v", err)
			}
		})
	}
}

// TestReloadOfWhatGoes: a version that is to be loaded again when requests have ended, and
// whose directory is removed until then, is not waited for.
func TestReloadOfWhatGoes(t *testing.T) {
	dir := models(t, 1)
	s := serve(t, Config{}, dir)
	held := s.m.At("m", 1)
	if err := s.Reload(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	reloaded := make(chan error, 1)
	go func() { reloaded <- s.Reload(ctx, []Model{{Name: "m", BasePath: dir}}) }()
	if err := s.m.Wait(ctx, func() bool { return s.m.Coming("m", 1) }); err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(filepath.Join(dir, "1")); err != nil {
		t.Fatal(err)
	}
	s.look()
	held.Release()
	if err := <-reloaded; tf.CodeOf(err) != tf.Unknown {
		t.Errorf("the reload ends with %v", err)
	}
}

// TestModelsAreTheServers: what a program does to its list of models, and to what is in
// it, changes nothing before a reload takes it.
func TestModelsAreTheServers(t *testing.T) {
	list := []Model{{Name: "m", BasePath: models(t, 1), Labels: map[string]int64{"stable": 1}}}
	s := serve(t, Config{Models: list}, "")
	label := func(want int64) {
		t.Helper()
		if got := s.model("m").Labels["stable"]; got != want {
			t.Errorf("the label is of version %d, not %d", got, want)
		}
	}
	list[0].Labels["stable"] = 2
	label(1)
	list[0].Labels = map[string]int64{"stable": 3}
	label(1)
	if err := s.Reload(t.Context(), list); tf.CodeOf(err) != tf.FailedPrecondition {
		t.Errorf("a label of a version that is not there: %v", err)
	}
	label(1)
	list[0].Labels["stable"] = 1
	if err := s.Reload(t.Context(), list); err != nil {
		t.Fatal(err)
	}
	list[0].Labels["stable"] = 2
	label(1)
}
