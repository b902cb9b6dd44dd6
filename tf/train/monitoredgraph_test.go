package train_test

import (
	"strings"
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/train"
)

// TestMonitoredFinalizes: a graph is finalized while its session is open, also after the
// session has been lost, and then as it was before.
func TestMonitoredFinalizes(t *testing.T) {
	g, _, next := counting()
	lost := false
	m := monitored(t, g, &spy{name: "a", calls: &[]string{}, on: map[string]func(*train.RunContext) error{"after": func(*train.RunContext) error {
		if !lost {
			lost = true
			return tf.Errorf(tf.Aborted, "lost")
		}
		return nil
	}}})
	if _, err := m.Run(t.Context(), nil, next); err != nil || !lost {
		t.Error(lost, err)
	}
	_, err := m.Run(t.Context(), nil, next, ops.Scalar(g, int32(7)))
	if tf.CodeOf(err) != tf.FailedPrecondition || !strings.Contains(err.Error(), "Graph is finalized and cannot be modified.") {
		t.Error(err)
	}
	if _, err := m.Run(t.Context(), nil, next); err != nil {
		t.Error("the session has not gone on:", err)
	}
	if err := m.Close(); err != nil || g.Finalized() {
		t.Error(err, g.Finalized())
	}
	g.Finalize()
	m, err = train.NewMonitoredSession(t.Context(), g, train.MonitoredOptions{})
	if err == nil {
		err = m.Close()
	}
	if err != nil || !g.Finalized() {
		t.Error(err, g.Finalized())
	}
}
