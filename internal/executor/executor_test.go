package executor_test

import (
	"context"
	"fmt"
	"strings"
	gosync "sync"
	"testing"

	"github.com/gorge-tf/gorge/internal/executor"
	"github.com/gorge-tf/gorge/tf/core"
)

func TestValues(t *testing.T) {
	for name, text := range map[string]string{
		"in order": `a = Value[v=1]
			b = Value[v=2]
			c = Add(a, b)
			d = Add(c, a)
			e = Identity(d)
			f = Fetch(e)
			unread = Add(e, e)`,
		"asynchronous, called back at once": `a = Value[v=1]
			b = Soon(a)
			c = Add(b, a)
			d = Soon(c)
			e = Add(d, c)
			f = Fetch(e)`,
		"asynchronous, from other goroutines": `a = Value[v=1]
			b = Later(a)
			c = Later(a)
			d = Add(b, c)
			e = Later(d)
			g = Add(e, d)
			f = Fetch(g)`,
		"called back more than once": `a = Value[v=4]
			b = Twice(a)
			f = Fetch(b)`,
		"references": `a = Value[v=-3]
			v = Variable
			r = UseRef(v)
			b = Add(r, a)
			f = Fetch(b)`,
		"references and waiting": `a = Value[v=-3]
			v = Variable
			r = UseRef(v)
			l = Later(r)
			b = Add(l, a)
			f = Fetch(b)`,
	} {
		t.Run(name, func(t *testing.T) { expect(t, text, map[int]any{0: float32(4)}) })
	}
}

// TestEmptyGraph: there is nothing to run, which is no error.
func TestEmptyGraph(t *testing.T) { expect(t, "", nil) }

func TestControlEdges(t *testing.T) {
	expect(t, `a = Value[v=1]
		b = Later(a)
		n = NoOp(^b)
		c = Value(^n)
		f = Fetch[index=1](c)`, map[int]any{1: float32(0)})
}

// TestLongChains: neither the stack nor the time may grow with the length.
func TestLongChains(t *testing.T) {
	for _, op := range []string{"Identity", "Soon", "Later"} {
		var b strings.Builder
		b.WriteString("n0 = Value[v=5]\n")
		const length = 20000
		for i := range length {
			fmt.Fprintf(&b, "n%d = %s(n%d)\n", i+1, op, i)
		}
		fmt.Fprintf(&b, "f = Fetch(n%d)", length)
		m := prepare(t, b.String())
		if got, err := m.run(t.Context()); err != nil || got[0] != float32(5) {
			t.Errorf("%s: got %v, %v", op, got, err)
		}
		m.balanced(t)
	}
}

func TestUpdateInPlace(t *testing.T) {
	expect(t, `a = Value
		sole = InPlace(a)
		b = Value
		first = InPlace(b)
		other = Identity(b, ^first)
		u = Identity(other)
		shared = InPlace(u)
		c = Value
		d = Identity(c)
		last = InPlace(d)
		f0 = Fetch[index=0](sole)
		f1 = Fetch[index=1](first)
		f2 = Fetch[index=2](shared)
		f3 = Fetch[index=3](last)`,
		map[int]any{0: true, 1: false, 2: true, 3: true})
}

// TestUpdateInPlaceWhileWaiting is the same with counted readers. A value that
// a waiting node still reads must not change.
func TestUpdateInPlaceWhileWaiting(t *testing.T) {
	expect(t, `a = Value
		sole = InPlace(a)
		b = Value
		l = Later(b)
		early = InPlace(b)
		late = InPlace(l)
		f0 = Fetch[index=0](sole)
		f1 = Fetch[index=1](late)
		f2 = Fetch[index=2](l, ^late)`,
		map[int]any{0: true, 1: false, 2: float32(0)})
}

func TestErrors(t *testing.T) {
	const long = "\nb0 = Soon(a)\nb = Add(b0, a)\nw = Wait\nu = Add(w, b)"
	for name, c := range map[string]struct {
		text string
		code core.Code
		want string
	}{
		"kernel":                 {"a = Value\nx = Fail[msg=\"bad\"](a)\ny = Identity(x)", core.OutOfRange, `Fail "x"(float32[]): bad`},
		"kernel, others wait":    {"a = Value\nx = Fail[msg=\"bad\"](a)" + long, core.OutOfRange, `Fail "x"(float32[]): bad`},
		"callback":               {"a = Value\nx = FailLater[msg=\"bad\"](a)" + long, core.DataLoss, `FailLater "x"(float32[]): bad`},
		"panic":                  {"a = Value\nx = Panic(a)", core.Internal, `Panic "x"(float32[]): the kernel of Panic panicked: boom`},
		"panic, others wait":     {"a = Value\nx = Panic(a)" + long, core.Internal, `Panic "x"(float32[]): the kernel of Panic panicked: boom`},
		"panic, asynchronous":    {"a = Value\nx = PanicAsync(a)" + long, core.Internal, `PanicAsync "x"(float32[]): the kernel of PanicAsync panicked: boom`},
		"no output":              {"x = Missing", core.Internal, "Missing 0-th output from {{node x}}"},
		"wrong type":             {"x = Mistyped", core.Internal, "Output 0 of type int32 does not match declared output type float for node {{node x}}"},
		"uninitialized":          {"v = Variable[set=false]\nu = Variable\nx = Add(u, v)", core.FailedPrecondition, "Attempting to use uninitialized value v"},
		"uninitialized, waiting": {"v = Variable[set=false]\nu = Variable\nx = Add(u, v)\ny = Later(x)", core.FailedPrecondition, "Attempting to use uninitialized value v"},
		"uninitialized ref":      {"v = Variable[set=false]\nx = UseRef(v)", core.FailedPrecondition, "Attempting to use uninitialized value v"},
	} {
		t.Run(name, func(t *testing.T) {
			m := prepare(t, c.text)
			for range 3 {
				_, err := m.run(t.Context())
				if core.CodeOf(err) != c.code || !strings.Contains(err.Error(), c.want) {
					t.Errorf("got %v %v, want %v %s", core.CodeOf(err), err, c.code, c.want)
				}
			}
			m.balanced(t)
		})
	}
}

func TestUninitializedAllowed(t *testing.T) {
	expect(t, "v = Variable[set=false]\nx = Initialized(v)\nf = Fetch(x)", map[int]any{0: false})
}

// TestFirstErrorOnly: what fails because of the first error is not reported.
func TestFirstErrorOnly(t *testing.T) {
	m := prepare(t, "a = Value\nx = FailLater[msg=\"first\"](a)\nw = Wait\nw2 = Wait\ny = Add(w, w2)")
	var reported []error
	errs := make(chan error, 1)
	ctx, cancel := context.WithCancel(t.Context())
	step := core.Step{Context: ctx}
	m.Start(&step, executor.Hooks{Fail: func(err error) { reported = append(reported, err); cancel() }, Done: func(err error) { errs <- err }})
	err := <-errs
	if len(reported) != 1 || reported[0] != err || !strings.Contains(err.Error(), "first") {
		t.Errorf("reported %v, ended with %v", reported, err)
	}
}

// TestEndOfStep: after the end of its context a run begins no node, and waits
// for those under way.
func TestEndOfStep(t *testing.T) {
	for name, text := range map[string]string{
		"in order": "a = Value\nb = Identity(a)",
		"waiting":  "a = Wait\nb = Identity(a)\nc = Wait",
	} {
		m := prepare(t, text)
		ctx, cancel := context.WithCancel(t.Context())
		if name == "in order" {
			cancel()
		} else {
			context.AfterFunc(t.Context(), cancel)
			go cancel()
		}
		_, err := m.run(ctx)
		if !core.AsError(err).Derived || core.CodeOf(err) != core.Canceled {
			t.Errorf("%s: got %v", name, err)
		}
		m.balanced(t)
	}
}

func TestBadGraphs(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"frames": {"a = Value\nb = Value\ne = Enter[frame_name=\"l\"](a)\nx = Add(e, b)",
			"{{node x}} has inputs from different frames. The input {{node e}} is in frame 'l'. The input {{node b}} is in frame ''."},
		"exit":         {"a = Value\nx = Exit(a)", "Cannot find a corresponding Enter op."},
		"next":         {"a = Value\nx = NextIteration(a)", "must be within a loop"},
		"parents":      {"a = Value\nb = Enter[frame_name=\"l\"](a)\nc = Enter[frame_name=\"m\"](a)\nx = Enter[frame_name=\"m\"](b)", `Mismatched parent frames for "m": "l" vs "". The node giving this error: {{node x}}`},
		"no frame":     {"a = Value\nx = Enter[frame_name=\"\"](a)", "The Enter {{node x}} must have a frame name."},
		"far too many": {"a = Value\nx = Enter[frame_name=\"l\", parallel_iterations=8589934592](a)", "Attr parallel_iterations has value 8589934592 out of range for an int32"},
		"none at once": {"a = Value\nx = Enter[frame_name=\"l\", parallel_iterations=0](a)", "'parallel_iterations' must be a positive integer: 0"},
	} {
		_, err := try(t, c.text)
		want := core.InvalidArgument
		if name == "parents" {
			want = core.Internal
		}
		if core.CodeOf(err) != want || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %s", name, err, c.want)
		}
	}
}

// TestManyRuns runs one executor from many goroutines; some runs fail, some
// are cancelled.
func TestManyRuns(t *testing.T) {
	m := prepare(t, `a = Value[v=1]
		b = Later(a)
		c = Add(b, a)
		d = Soon(c)
		e = Later(c)
		g = Add(d, e)
		f = Fetch(g)`)
	var group gosync.WaitGroup
	for i := range 8 {
		group.Go(func() {
			for k := range 50 {
				ctx, cancel := context.WithCancel(t.Context())
				if (i+k)%4 == 0 {
					go cancel()
				}
				got, err := m.run(ctx)
				cancel()
				if err == nil && got[0] != float32(4) || err != nil && (i+k)%4 != 0 {
					t.Errorf("got %v, %v", got, err)
				}
			}
		})
	}
	group.Wait()
	m.balanced(t)
}
