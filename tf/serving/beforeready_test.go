package serving

import (
	"context"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/gorge-tf/gorge/internal/serving/versions"
	"github.com/gorge-tf/gorge/tf"
)

// A watched context says when it is asked for its end.
type watched struct {
	context.Context
	once  sync.Once
	asked chan struct{}
}

func (w *watched) Done() <-chan struct{} {
	w.once.Do(func() { close(w.asked) })
	return w.Context.Done()
}

// TestReloadBeforeReady: models that a client takes away before they are ready are not
// waited for, and their labels count for nothing.
func TestReloadBeforeReady(t *testing.T) {
	for name, c := range map[string]struct {
		first Model
		then  []Model
	}{
		"by another":     {Model{BasePath: t.TempDir()}, []Model{{Name: "m", BasePath: models(t, 1)}}},
		"by none":        {Model{BasePath: t.TempDir()}, nil},
		"with its label": {Model{BasePath: t.TempDir(), Labels: map[string]int64{"stable": 1}}, nil},
		"being loaded":   {Model{BasePath: damaged(t, 1)}, []Model{{Name: "m", BasePath: models(t, 1)}}},
	} {
		t.Run(name, func(t *testing.T) {
			c.first.Name = "first"
			s, err := New(Config{Models: []Model{c.first}, Poll: -1, LoadRetries: 1, RetryInterval: time.Hour})
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
			defer cancel()
			w := &watched{Context: ctx, asked: make(chan struct{})}
			ready := make(chan error, 1)
			go func() { ready <- s.Ready(w) }()
			<-w.asked
			if err := s.Reload(ctx, c.then); err != nil {
				t.Error(err)
			}
			if err := <-ready; err != nil {
				t.Errorf("Ready: %v", err)
			}
		})
	}
}

// damaged returns a directory with a version that cannot be loaded.
func damaged(t *testing.T, version int) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, strconv.Itoa(version)), 0o777); err != nil {
		t.Fatal(err)
	}
	return dir
}

// TestReloadGivenUp: a client that has gone when it is its turn changes nothing.
func TestReloadGivenUp(t *testing.T) {
	s := serve(t, Config{}, models(t, 1))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := s.Reload(ctx, nil); tf.CodeOf(err) != tf.Canceled {
		t.Errorf("Reload: %v", err)
	}
	if _, err := s.Predict(t.Context(), predict(1)); err != nil {
		t.Error(err)
	}
	if v := s.m.Status("m"); len(v) != 1 || v[0].State != versions.Available {
		t.Errorf("status %v", v)
	}
}

// TestLabelWithoutName: a label may be empty. That does not make a canary of its version.
func TestLabelWithoutName(t *testing.T) {
	m := Model{Name: "m", BasePath: models(t, 1, 2), Versions: VersionPolicy{All: true}, Labels: map[string]int64{"": 2}}
	s := serve(t, Config{Models: []Model{m}}, "")
	if n := byVersion(t, s); n[2] != 200 {
		t.Errorf("requests by version: %v", n)
	}
}
