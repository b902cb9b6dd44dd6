package io

import (
	"testing"

	"github.com/gorge-tf/gorge/tf"
)

func TestStateRoundTrip(t *testing.T) {
	r := newReader("r", &identity{})
	r.started, r.finished, r.produced, r.work = 5, 5, 300, "file"
	other := newReader("r", &identity{})
	if err := other.restore(t.Context(), r.state()); err != nil {
		t.Fatal(err)
	}
	if other.started != 5 || other.finished != 5 || other.produced != 300 || other.work != "file" {
		t.Fatal(other)
	}
}

// TestBadStates: what is refused leaves the reader as it is.
func TestBadStates(t *testing.T) {
	for want, state := range map[string]string{
		`Could not parse state for r: \010`:                                                           "\x08",
		`Inconsistent work started vs. finished when restoring in r: \010\003`:                        "\x08\x03",
		`Inconsistent work started vs. finished when restoring in r: \020\001`:                        "\x10\x01",
		`Unexpected negative value when restoring in r: \030\377\377\377\377\377\377\377\377\377\001`: "\x18\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01",
	} {
		r := newReader("r", &identity{})
		if err := r.restore(t.Context(), state); tf.CodeOf(err) != tf.InvalidArgument || tf.AsError(err).Message() != want {
			t.Errorf("%v\nwant %s", err, want)
		}
		if r.started != 0 || r.produced != 0 {
			t.Error("changed by a bad state")
		}
	}
}

func FuzzState(f *testing.F) {
	f.Add([]byte("\x08\x02\x10\x01\x18\x05\x22\x01a"))
	f.Fuzz(func(t *testing.T, b []byte) {
		r := newReader("r", &identity{})
		if r.restore(t.Context(), string(b)) != nil {
			return
		}
		again := newReader("r", &identity{})
		if err := again.restore(t.Context(), r.state()); err != nil || again.state() != r.state() {
			t.Fatal(err)
		}
	})
}
