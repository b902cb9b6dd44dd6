package io

import (
	"context"
	"testing"

	"github.com/gorge-tf/gorge/tf"
)

// waits is a format whose work is open until it is closed.
type waits struct{ opened bool }

func (f *waits) open(context.Context, string) error { f.opened = true; return nil }
func (f *waits) next(context.Context) (key, value string, ok bool, err error) {
	return "k", "v", true, nil
}
func (f *waits) close()         { f.opened = false }
func (f *waits) hasState() bool { return false }

// TestCloseWhileReading: a reader that is closed during a read closes its file at the end of
// that read. Later reads are refused.
func TestCloseWhileReading(t *testing.T) {
	f := &waits{}
	r := newReader("r", f)
	use := func(g func() error) (err error) {
		r.whenFree(t.Context(), g, func(e error) { err = e })
		return err
	}
	err := use(func() error {
		r.Close()
		return f.open(t.Context(), "work")
	})
	if err != nil || f.opened {
		t.Errorf("after the last read: open %v, %v", f.opened, err)
	}
	if err := use(func() error { return f.open(t.Context(), "work") }); tf.CodeOf(err) != tf.Canceled || f.opened {
		t.Errorf("later: open %v, %v", f.opened, err)
	}
}
