package executor_test

import (
	"maps"
	"testing"
)

// TestLate: a node that is late sees what all others have done, in a fixed order
// of nodes and where some wait; a dead one does not run.
func TestLate(t *testing.T) {
	const start = "v = Variable\nten = Value[v=10]\n"
	for name, c := range map[string]struct {
		text string
		want map[int]any
	}{
		"in order": {"f = Fetch[_late=true](v)\ns = Set(v, ten)", map[int]any{0: float32(10)}},
		"waiting":  {"f = Fetch[_late=true](v)\nl = Later(ten)\nk = Later(l)\ns = Set(v, k)", map[int]any{0: float32(10)}},
		"a view":   {"i = Identity[_late=true](v)\nf = Fetch[_late=true](i)\nl = Later(ten)\ns = Set(v, l)", map[int]any{0: float32(10)}},
		"dead": {"p = Less(ten, ten)\nl = Later(ten)\nb = Switch(l, p)\nd = Identity(b:1)\nf = Fetch[_late=true](v, ^d)\ng = Fetch[index=1, _late=true](v)\ns = Set(v, b)",
			map[int]any{1: float32(10)}},
	} {
		t.Run(name, func(t *testing.T) {
			m := prepare(t, start+c.text)
			for range 3 {
				got, err := m.run(t.Context())
				if err != nil || !maps.Equal(got, c.want) {
					t.Errorf("got %v, %v, want %v", got, err, c.want)
				}
			}
		})
	}
}

// TestLateAfterFailure: a run that has failed leaves late nodes alone.
func TestLateAfterFailure(t *testing.T) {
	m := prepare(t, "a = Value\nx = FailLater[msg=\"bad\"](a)\nf = Fetch[_late=true](a)")
	for range 2 {
		got, err := m.run(t.Context())
		if err == nil || len(got) != 0 {
			t.Errorf("got %v, %v, want an error and nothing", got, err)
		}
	}
	m.balanced(t)
}
