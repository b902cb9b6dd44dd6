package savedmodel

import (
	"fmt"
	"path/filepath"
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/session"
)

// TestRegisteredGradients asks for gradients through functions of a model which has some of
// its own. The numbers are TensorFlow's; so they are of the model when it is saved again.
func TestRegisteredGradients(t *testing.T) {
	again := filepath.Join(t.TempDir(), "again")
	for _, dir := range []string{filepath.Join("testdata", "gradients"), again} {
		m, err := Load(t.Context(), dir, Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer m.Close()
		for name, want := range map[string]string{
			"squares": "[float32[2]{960, -40992} float32[2]{96, 12384}]",
			"scaled":  "[float32[2]{30, 45} float32[2]{33, -66}]",
		} {
			if got, err := gradientsOf(t, m, name); err != nil || got != want {
				t.Errorf("%s: %s %s (%v), want %s", dir, name, got, err, want)
			}
		}
		if dir != again {
			if err := m.Resave(t.Context(), again); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// gradientsOf returns the gradients of a function for its argument and the variable.
func gradientsOf(t *testing.T, m *Model, name string) (string, error) {
	t.Helper()
	f := m.Function(name)
	if err := f.Err(); err != nil {
		return "", err
	}
	x, y := f.ins["x"].out, f.outs[f.outKeys[0]].out
	grads, err := tf.Gradients(y, x, y.Operation().Input(1))
	if err != nil {
		return "", err
	}
	at, err := tf.FromSlice([]float32{1, -2}, 2)
	if err != nil {
		return "", err
	}
	out, err := m.Session().Run(t.Context(), session.Feeds{x: at}, grads[0], grads[1])
	return fmt.Sprint(out), err
}
