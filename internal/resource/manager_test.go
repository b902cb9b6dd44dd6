package resource

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/gorge-tf/gorge/internal/leaktest"
)

func TestMain(m *testing.M) { leaktest.Main(m) }

type variable struct{ value int }

type sizer interface{ Size() int }

type fifo struct {
	size   int
	closed atomic.Int32
}

func (q *fifo) Size() int { return q.size }
func (q *fifo) Close()    { q.closed.Add(1) }

var (
	_ = Declare[*variable]("tensorflow::Var")
	_ = Declare[sizer]("tensorflow::QueueInterface")
)

// wantError checks the kind and the text of an error.
func wantError(t *testing.T, err error, kind Kind, msg string) {
	t.Helper()
	var e *Error
	if !errors.As(err, &e) {
		t.Fatalf("error %v (%T), want an *Error %v %q", err, err, kind, msg)
	}
	if e.Kind != kind || e.Error() != msg {
		t.Fatalf("error %v %q\n want %v %q", e.Kind, e.Msg, kind, msg)
	}
}

func mustCreate[T any](t *testing.T, m *Manager, container, name string, v T) {
	t.Helper()
	if err := Create(m, container, name, v); err != nil {
		t.Fatal(err)
	}
}

func TestCreateThenLookup(t *testing.T) {
	m := NewManager("localhost")
	v, q := &variable{1}, &fifo{size: 3}
	mustCreate(t, m, "", "a", v)
	mustCreate[sizer](t, m, "", "a", q) // same name, other type
	mustCreate(t, m, "other", "a", &variable{2})

	for _, container := range []string{"", "localhost"} {
		if got, err := Lookup[*variable](m, container, "a"); err != nil || got != v {
			t.Fatalf("container %q: %v, %v, want the variable created there", container, got, err)
		}
	}
	if got, err := Lookup[sizer](m, "", "a"); err != nil || got != sizer(q) {
		t.Fatalf("%v, %v, want the queue", got, err)
	}
	if got, _ := Lookup[*variable](m, "other", "a"); got.value != 2 {
		t.Fatalf("the other container has %v", got)
	}
	if got := m.Containers(); !slices.Equal(got, []string{"localhost", "other"}) {
		t.Fatalf("containers %q", got)
	}
}

// TestErrorTexts has what TensorFlow 2.21 says in the same situations.
func TestErrorTexts(t *testing.T) {
	m := NewManager("localhost")
	_, err := Lookup[*variable](m, "", "v")
	wantError(t, err, NotFound, "Container localhost does not exist. (Could not find resource: localhost/v)")
	wantError(t, Delete[*variable](m, "", "v"), NotFound, "Container localhost does not exist.")

	mustCreate(t, m, "c", "v", &variable{})
	_, err = Lookup[*variable](m, "c", "w")
	wantError(t, err, NotFound, "Resource c/w/N10tensorflow3VarE does not exist.")
	_, err = Lookup[sizer](m, "c", "v")
	wantError(t, err, NotFound, "Resource c/v/N10tensorflow14QueueInterfaceE does not exist.")
	wantError(t, m.Delete("c", "w", TypeOf[*variable]().Hash), NotFound, "Resource c/w/<unknown> does not exist.")
	wantError(t, Create(m, "c", "v", &variable{}), AlreadyExists, "Resource c/v/N10tensorflow3VarE")
}

func TestDelete(t *testing.T) {
	m := NewManager("localhost")
	mustCreate(t, m, "", "v", &variable{})
	if err := Delete[*variable](m, "", "v"); err != nil {
		t.Fatal(err)
	}
	wantError(t, Delete[*variable](m, "", "v"), NotFound, "Resource localhost/v/N10tensorflow3VarE does not exist.")
	mustCreate(t, m, "", "v", &variable{})
	if err := m.Delete("", "v", TypeOf[*variable]().Hash); err != nil {
		t.Fatal(err)
	}
}

func TestRemovedResourcesAreClosedOnce(t *testing.T) {
	for _, tc := range []struct {
		name   string
		remove func(m *Manager)
	}{
		{"Delete", func(m *Manager) { _ = Delete[sizer](m, "c", "q") }},
		{"Clear", func(m *Manager) { m.Clear("c") }},
		{"ClearAll", func(m *Manager) { m.ClearAll() }},
	} {
		t.Run(tc.name, func(t *testing.T) {
			m, q := NewManager("localhost"), &fifo{}
			mustCreate[sizer](t, m, "c", "q", q)
			for range 2 {
				tc.remove(m)
			}
			if n := q.closed.Load(); n != 1 {
				t.Fatalf("closed %d times, want once", n)
			}
			if _, err := Lookup[sizer](m, "c", "q"); err == nil {
				t.Fatal("still there")
			}
		})
	}
}

func TestRefHoldsOffClose(t *testing.T) {
	m, q := NewManager("localhost"), &fifo{}
	mustCreate[sizer](t, m, "", "q", q)
	r, err := Acquire[sizer](m, "", "q")
	if err != nil || r.Value != sizer(q) {
		t.Fatal(r.Value, err)
	}
	m.Clear("")
	if q.closed.Load() != 0 {
		t.Fatal("closed while in use")
	}
	r.Release()
	if q.closed.Load() != 1 {
		t.Fatal("not closed with the last Ref")
	}
}

func TestClearOfStepContainer(t *testing.T) {
	m := NewManager("localhost")
	name := StepContainer(-7)
	if name != "__per_step_-7" {
		t.Fatalf("step container %q", name)
	}
	mustCreate(t, m, name, "stack", &variable{})
	mustCreate(t, m, "", "v", &variable{})
	m.Clear(name)
	m.Clear(name)
	if got := m.Containers(); !slices.Equal(got, []string{"localhost"}) {
		t.Fatalf("containers %q, want only localhost", got)
	}
}

func TestLookupOrCreateRunsOneConstructor(t *testing.T) {
	m := NewManager("localhost")
	var made atomic.Int32
	create := func() (*variable, error) {
		return &variable{int(made.Add(1))}, nil
	}
	var wg sync.WaitGroup
	for range 16 {
		wg.Go(func() {
			v, err := LookupOrCreate(m, "", "v", create)
			if err != nil || v.value != 1 {
				t.Errorf("%v, %v, want the first variable made", v, err)
			}
		})
	}
	wg.Wait()
	if made.Load() != 1 {
		t.Fatalf("%d constructors ran", made.Load())
	}
}

func TestLookupOrCreatePassesErrorsOn(t *testing.T) {
	m, broken := NewManager("localhost"), errors.New("broken")
	_, err := LookupOrCreate(m, "", "v", func() (*variable, error) { return nil, broken })
	if err != broken {
		t.Fatalf("error %v, want the constructor's", err)
	}
	if got := m.Containers(); len(got) != 0 {
		t.Fatalf("a failed constructor left containers %q", got)
	}
}

func TestLookupOrCreateYieldsToCreate(t *testing.T) {
	m, mine, first := NewManager("localhost"), &fifo{}, &fifo{}
	got, err := LookupOrCreate(m, "", "q", func() (sizer, error) {
		mustCreate[sizer](t, m, "", "q", first) // constructors may use the manager
		return mine, nil
	})
	if err != nil || got != sizer(first) {
		t.Fatalf("%v, %v, want what was created first", got, err)
	}
	if mine.closed.Load() != 1 || first.closed.Load() != 0 {
		t.Fatal("the loser is closed, the winner is not")
	}
}

// TestConcurrentUse mixes everything; the race detector and the close counts
// judge.
func TestConcurrentUse(t *testing.T) {
	m := NewManager("localhost")
	var made, closed atomic.Int32
	var wg sync.WaitGroup
	for g := range 8 {
		wg.Go(func() {
			for i := range 300 {
				churn(m, fmt.Sprint("q", i%3), g, &made, &closed)
			}
		})
	}
	wg.Wait()
	m.ClearAll()
	if made.Load() != closed.Load() {
		t.Fatalf("%d made, %d closed", made.Load(), closed.Load())
	}
}

type counted struct {
	once   sync.Once
	closed *atomic.Int32
}

func (c *counted) Close() { c.once.Do(func() { c.closed.Add(1) }) }

func churn(m *Manager, name string, g int, made, closed *atomic.Int32) {
	_, _ = LookupOrCreate(m, "", name, func() (*counted, error) {
		made.Add(1)
		return &counted{closed: closed}, nil
	})
	if r, err := Acquire[*counted](m, "", name); err == nil {
		defer r.Release()
	}
	switch g {
	case 0:
		_ = Delete[*counted](m, "", name)
	case 1:
		m.Clear("")
	case 2:
		m.Containers()
	}
}
