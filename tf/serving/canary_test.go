package serving

import (
	"math"
	"path/filepath"
	"slices"
	"testing"

	"github.com/gorge-tf/gorge/internal/serving/versions"
	"github.com/gorge-tf/gorge/tf"
)

// TestLatestIsCanary has the latest version get a share of the requests: the others
// go to the one before, and all go to the only one.
func TestLatestIsCanary(t *testing.T) {
	dir := models(t, 1, 2)
	m := Model{Name: "m", BasePath: dir, Versions: VersionPolicy{All: true}, Labels: map[string]int64{"old": 1, "new": 2}} // Ready waits for versions with labels
	s := serve(t, Config{Models: []Model{m}}, "")
	for _, c := range []struct {
		share float64
		want  func(one, two int) bool
	}{
		{0, func(one, two int) bool { return two == 0 }},
		{0.5, func(one, two int) bool { return one > 50 && two > 50 }},
		{1, func(one, two int) bool { return one == 0 }},
	} {
		m.Canary = Canary{Label: "new", Share: c.share}
		if err := s.Reload(t.Context(), []Model{m}); err != nil {
			t.Fatal(err)
		}
		if n := byVersion(t, s); !c.want(n[1], n[2]) {
			t.Errorf("share %v: requests by version: %v", c.share, n)
		}
	}
	m.Versions, m.Canary.Share, m.Labels = VersionPolicy{}, 0.5, map[string]int64{"new": 2}
	if err := s.Reload(t.Context(), []Model{m}); err != nil {
		t.Fatal(err)
	}
	unloaded := func() bool {
		return !slices.ContainsFunc(s.m.Status("m"), func(v versions.Status) bool { return v.Number == 1 && v.State <= versions.Available })
	}
	if err := s.m.Wait(t.Context(), unloaded); err != nil {
		t.Fatal(err)
	}
	if n := byVersion(t, s); n[2] != 200 {
		t.Errorf("of one version: %v", n)
	}
}

// TestReloadDropsCanary has a client take away the label of a canary.
func TestReloadDropsCanary(t *testing.T) {
	m := Model{Name: "m", BasePath: models(t, 1, 2), Versions: VersionPolicy{All: true}, Labels: map[string]int64{"old": 1, "new": 2}, Canary: Canary{Label: "old", Share: 1}}
	s := serve(t, Config{Models: []Model{m}}, "")
	m.Labels = nil
	models := []Model{m}
	s.keepOwn(models)
	if err := s.Reload(t.Context(), models); err != nil {
		t.Fatal(err)
	}
	if n := byVersion(t, s); n[2] != 200 {
		t.Errorf("requests by version: %v", n)
	}
}

// TestRefused gives New what cannot be served as it is meant.
func TestRefused(t *testing.T) {
	dir := models(t, 1)
	for name, m := range map[string]Model{
		"canary without its label":   {Canary: Canary{Label: "new", Share: 0.5}},
		"canary without a label":     {Canary: Canary{Share: 0.5}},
		"canary of no number":        {Labels: map[string]int64{"new": 1}, Canary: Canary{Label: "new", Share: math.NaN()}},
		"log of more than all":       {Log: RequestLog{Prefix: filepath.Join(dir, "log"), Share: 2}},
		"log of less than nothing":   {Log: RequestLog{Prefix: filepath.Join(dir, "log"), Share: -1}},
		"log without names of files": {Log: RequestLog{Share: 1}},
	} {
		m.Name, m.BasePath = "m", dir
		s, err := New(Config{Models: []Model{m}, Poll: -1})
		if tf.CodeOf(err) != tf.InvalidArgument {
			t.Errorf("%s: %v", name, err)
		}
		if err == nil {
			s.Close()
		}
	}
}

// TestClosed asks a server that was closed.
func TestClosed(t *testing.T) {
	s := serve(t, Config{}, models(t, 1))
	list := []Model{{Name: "m", BasePath: models(t, 1)}}
	s.Close()
	if err := s.Reload(t.Context(), list); tf.CodeOf(err) != tf.FailedPrecondition {
		t.Errorf("Reload: %v", err)
	}
	if err := s.Ready(t.Context()); tf.CodeOf(err) != tf.FailedPrecondition {
		t.Errorf("Ready: %v", err)
	}
}
