package session_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/ops/queue"
	"github.com/gorge-tf/gorge/tf/session"
)

// fetch returns the elements of y.
func fetch(t *testing.T, s *session.Session, feeds session.Feeds, y tf.Output, also ...tf.Fetchable) []float32 {
	t.Helper()
	v, err := session.Fetch[float32](t.Context(), s, feeds, y, also...)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// TestFetchedMemoryIsNotTheSessions: writing to what was fetched changes no
// variable, no constant, and nothing that is computed later.
func TestFetchedMemoryIsNotTheSessions(t *testing.T) {
	g := tf.NewGraph()
	v := tf.NewVariable(ops.Const(g, []float32{1, 2}), tf.VariableOptions{Name: "v"})
	c := ops.Const(g, []float32{7, 8})
	start := tf.InitializeAll(g)
	s := open(t, g)
	for name, y := range map[string]tf.Output{
		"variable": v.Value(), "constant": c, "folded": c.Add(c), "identity": c.Identity(), "reshaped": ops.Reshape(c, ops.Const(g, []int32{2, 1})),
	} {
		if _, err := s.Run(t.Context(), nil, start); err != nil {
			t.Fatal(err)
		}
		want := slices.Clone(fetch(t, s, nil, y))
		for range 2 {
			got := fetch(t, s, nil, y)
			if !slices.Equal(got, want) {
				t.Errorf("%s: after a program wrote to its own slice: got %v, want %v", name, got, want)
			}
			got[0] = -1
		}
	}
	if _, err := s.Run(t.Context(), nil, start); err != nil {
		t.Fatal(err)
	}
	if got := fetch(t, s, nil, v.Value()); !slices.Equal(got, []float32{1, 2}) {
		t.Errorf("an initializer gives %v", got)
	}
}

// TestTwoFetchesShareNothing: what is asked for twice comes twice.
func TestTwoFetchesShareNothing(t *testing.T) {
	g := tf.NewGraph()
	x := ops.Placeholder(g, tf.Float32, tf.Shape{-1})
	y := x.Neg()
	s := open(t, g)
	out, err := s.Run(t.Context(), session.Feeds{x: vector(t, 1, 2)}, y, y, y.Identity(), x, x)
	if err != nil {
		t.Fatal(err)
	}
	for i, a := range out {
		tf.Data[float32](a)[0] = 100
		for k, b := range out {
			if k > i && tf.Data[float32](b)[0] == 100 {
				t.Errorf("fetches %d and %d share memory", i, k)
			}
		}
	}
}

// TestFedMemoryStaysTheProgramsOwn: what was fed may be written to once Run has
// returned, whatever keeps it.
func TestFedMemoryStaysTheProgramsOwn(t *testing.T) {
	g := tf.NewGraph()
	x := ops.Placeholder(g, tf.Float32, tf.Shape{2})
	v := tf.NewVariable(ops.Const(g, []float32{0, 0}), tf.VariableOptions{Name: "v"})
	set := v.Assign(x)
	q := queue.FIFOQueueV2(g, []tf.DType{tf.Float32})
	put := queue.QueueEnqueueV2(q, []tf.Output{x})
	get := queue.QueueDequeueV2(q, []tf.DType{tf.Float32})[0]
	start := tf.InitializeAll(g)
	s := open(t, g)
	if _, err := s.Run(t.Context(), nil, start); err != nil {
		t.Fatal(err)
	}
	data := []float32{1, 2}
	in, err := tf.FromSlice(data)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Run(t.Context(), session.Feeds{x: in}, set, put); err != nil {
		t.Fatal(err)
	}
	data[0] = -1
	if got := fetch(t, s, nil, v.Value()); !slices.Equal(got, []float32{1, 2}) {
		t.Errorf("the variable became %v", got)
	}
	if got := fetch(t, s, nil, get); !slices.Equal(got, []float32{1, 2}) {
		t.Errorf("what was enqueued became %v", got)
	}
}

// TestAdoptedMemoryIsNotHandedOut: what a program has given away is the
// session's, which shows nobody its own memory.
func TestAdoptedMemoryIsNotHandedOut(t *testing.T) {
	g := tf.NewGraph()
	x := ops.Placeholder(g, tf.Float32, tf.Shape{2})
	y := x.Identity()
	s := open(t, g)
	in, err := tf.Adopt([]float32{1, 2})
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		got := fetch(t, s, session.Feeds{x: in}, y)
		if !slices.Equal(got, []float32{1, 2}) {
			t.Errorf("got %v", got)
		}
		got[0] = -1
	}
}

func TestFetchInto(t *testing.T) {
	g := tf.NewGraph()
	x := ops.Placeholder(g, tf.Float32, tf.Shape{-1})
	v := tf.NewVariable(ops.Const(g, []float32{5, 6}), tf.VariableOptions{Name: "v"})
	start := tf.InitializeAll(g)
	s := open(t, g)
	if _, err := s.Run(t.Context(), nil, start); err != nil {
		t.Fatal(err)
	}
	dst := make([]float32, 2)
	feeds := session.Feeds{x: vector(t, 1, 2)}
	for _, c := range []struct {
		y    tf.Output
		want []float32
	}{{v.Value(), []float32{5, 6}}, {x.Neg(), []float32{-1, -2}}, {x, []float32{1, 2}}} {
		if err := session.FetchInto(t.Context(), s, dst, feeds, c.y); err != nil || !slices.Equal(dst, c.want) {
			t.Errorf("%v: %v, %v", c.y, dst, err)
		}
	}
	if err := session.FetchInto(t.Context(), s, dst, feeds, x, ops.Size(x)); err != nil || !slices.Equal(dst, []float32{1, 2}) {
		t.Errorf("a feed, beside something that is computed: %v, %v", dst, err)
	}
	dst[0] = -1
	if got := fetch(t, s, nil, v.Value()); got[0] != 5 {
		t.Errorf("the variable became %v", got)
	}
	if err := session.FetchInto(t.Context(), s, dst[:1], feeds, v.Value()); tf.CodeOf(err) != tf.InvalidArgument {
		t.Errorf("too little room: %v", err)
	}
	if err := session.FetchInto(t.Context(), s, make([]int32, 2), feeds, v.Value()); tf.CodeOf(err) != tf.InvalidArgument {
		t.Errorf("another type: %v", err)
	}
}

// TestOptionsAddUp: none replaces what another one has set.
func TestOptionsAddUp(t *testing.T) {
	g := tf.NewGraph()
	ops.NoOp(g)
	_, err := session.New(g, session.Target("foo://x"), session.With(session.Config{Devices: map[string]int{"CPU": 2}}), session.Threads(1))
	if tf.CodeOf(err) != tf.NotFound {
		t.Errorf("the target is lost: %v", err)
	}
	mine := map[string]int{"CPU": 1}
	s, err := session.New(g, session.With(session.Config{Devices: mine}), session.Devices("CPU", 2))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if mine["CPU"] != 1 {
		t.Error("an option has written to the program's map")
	}
}

// TestInnerTensorsAreNotFetched: what is in a loop has no one value.
func TestInnerTensorsAreNotFetched(t *testing.T) {
	g := tf.NewGraph()
	var inner tf.Output
	tf.While([]tf.Output{ops.Scalar(g, float32(0))}, func(v []tf.Output) tf.Output { return ops.Less(v[0], ops.Scalar(g, float32(3))) },
		func(v []tf.Output) []tf.Output {
			inner = v[0].Add(ops.Scalar(g, float32(1)))
			return []tf.Output{inner}
		})
	s := open(t, g)
	if _, err := s.Run(t.Context(), nil, inner); tf.CodeOf(err) != tf.InvalidArgument || !strings.Contains(err.Error(), "not fetchable") || !strings.Contains(err.Error(), "memory_test.go:") {
		t.Errorf("fetched: %v", err)
	}
}
