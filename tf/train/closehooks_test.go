package train_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/gorge-tf/gorge/tf/session"
	"github.com/gorge-tf/gorge/tf/train"
)

// A closer is a hook whose Close counts, and then fails or panics; its End may fail, too.
type closer struct {
	train.BaseHook
	closed     *int
	ended      bool
	end, close error
	panics     bool
}

func (h *closer) End(context.Context, *session.Session) error {
	h.ended = true
	return h.end
}

func (h *closer) Close() error {
	*h.closed++
	if h.panics {
		panic(h.close)
	}
	return h.close
}

// TestAllHooksAreClosed: when hooks fail or panic in Close or End, the others are closed as well, and all errors of Close
// are told.
func TestAllHooksAreClosed(t *testing.T) {
	a, b, bad := errors.New("a is broken"), errors.New("b is broken"), errors.New("the end is broken")
	for name, c := range map[string]struct {
		hooks []closer
		want  []error
		panic error
	}{
		"none fails":    {hooks: make([]closer, 3)},
		"two fail":      {hooks: []closer{{close: a}, {}, {close: b}}, want: []error{a, b}},
		"the first End": {hooks: []closer{{end: bad}, {close: b}, {}}, want: []error{bad, b}},
		"panic":         {hooks: []closer{{}, {close: a, panics: true}, {close: b}, {}}, panic: a},
		"two panic":     {hooks: []closer{{close: b, panics: true}, {}, {close: a, panics: true}, {}}, panic: a},
	} {
		g, _, _ := counting()
		closed, hooks := 0, []train.Hook{}
		for _, h := range c.hooks {
			h.closed = &closed
			hooks = append(hooks, &h)
		}
		m := monitored(t, g, hooks...)
		closed = 0
		err, panicked := closePanicking(m)
		if closed != len(hooks) {
			t.Errorf("%s: %d of %d hooks are closed", name, closed, len(hooks))
		}
		for _, w := range c.want {
			if err == nil || !strings.Contains(err.Error(), w.Error()) {
				t.Errorf("%s: the error is %v, want one that has %v", name, err, w)
			}
		}
		if len(c.want) == 0 && err != nil || panicked != c.panic {
			t.Errorf("%s: error %v, panic %v", name, err, panicked)
		}
	}
}

// closePanicking closes m and returns what it panics with, nil if it does not.
func closePanicking(m *train.MonitoredSession) (err, panicked error) {
	defer func() { panicked, _ = recover().(error) }()
	return m.Close(), nil
}

// TestAllHooksEnd: a hook whose End fails keeps no other from its end, such as one that
// saves the last checkpoint, and all errors are told.
func TestAllHooksEnd(t *testing.T) {
	a, b := errors.New("a is broken"), errors.New("b is broken")
	g, _, _ := counting()
	closed, hooks := 0, []*closer{{end: a}, {}, {end: b}, {}}
	var all []train.Hook
	for _, h := range hooks {
		h.closed = &closed
		all = append(all, h)
	}
	err := monitored(t, g, all...).Close()
	for i, h := range hooks {
		if !h.ended {
			t.Errorf("End of hook %d was not called", i)
		}
	}
	if !errors.Is(err, a) || !errors.Is(err, b) {
		t.Errorf("the error is %v, want one that has %v and %v", err, a, b)
	}
}
