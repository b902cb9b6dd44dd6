package executor_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/gorge-tf/gorge/internal/rendezvous"
	"github.com/gorge-tf/gorge/tf/core"
)

const choice = `x = Value[v=3]
	one = Value[v=1]
	p = Less(x, %s)
	five = Value[v=5]
	s = Switch(x, p)
	no = Add(s, one)        # runs if x is not less
	yes = Add(s:1, x)
	`

// TestSwitchAndMerge: what hangs on the output that was not chosen is dead,
// and does not run.
func TestSwitchAndMerge(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		want map[int]any
	}{
		"merge": {"m = Merge(no, yes)\nf = Fetch(m)\ni = Fetch[index=1](m:1)", map[int]any{0: float32(6), 1: int32(1)}},
		"merge, waiting": {"l = Later(yes)\nk = Later(no)\nm = Merge(k, l)\nf = Fetch(m)",
			map[int]any{0: float32(6)}},
		"merge after control": {"n = Later(one)\nm = Merge(no, yes, ^n)\nf = Fetch(m)", map[int]any{0: float32(6)}},
		"merge of the dead":   {"m = Merge(no, no)\nd = Add(m, x)\nf = Fetch(d)\ng = Fetch[index=1](yes)", map[int]any{1: float32(6)}},
		"merge of the dead after control": {"n = Later(one)\nm = Merge(no, no, ^n)\nf = Fetch(m)\ng = Fetch[index=1](yes)",
			map[int]any{1: float32(6)}},
		"merge of two that live": {"m = Merge(yes, one, no)\nf = Fetch(x, ^m)", map[int]any{0: float32(3)}},
		"dead control":           {"a = Value(^no)\nf = Fetch(a)\nb = Value(^yes)\ng = Fetch[index=1](b)", map[int]any{1: float32(0)}},
		"trigger":                {"t = ControlTrigger(^no, ^yes)\na = Value(^t)\nf = Fetch(a)", map[int]any{0: float32(0)}},
	} {
		t.Run(name, func(t *testing.T) { expect(t, fmt.Sprintf(choice, "five")+c.text, c.want) })
	}
	expect(t, fmt.Sprintf(choice, "one")+"m = Merge(no, yes)\nf = Fetch(m)", map[int]any{0: float32(4)})
}

// TestDeadTransfer: a peer learns that a value is dead; a receive consumes its
// message even if it is dead itself.
func TestDeadTransfer(t *testing.T) {
	text := fmt.Sprintf(choice, "five") + `
		dead = _Send(no)
		live = _Send(yes, ^no)
		unused = _Recv(^no)
		u = Identity(unused)
		f = Fetch(u)
		got = _Recv
		d = Add(got, x)
		g = Fetch[index=1](d)`
	m := prepare(t, text)
	for range 2 {
		table := rendezvous.NewLocal(nil)
		table.Send("unused", core.Scalar[float32](1), false)
		table.Send("got", nil, true)
		m.step.Rendezvous = table
		got, err := m.run(t.Context())
		if err != nil || len(got) != 0 {
			t.Errorf("got %v, %v, want nothing", got, err)
		}
		expectSent(t, table, "dead", nil)
		expectSent(t, table, "live", float32(6))
		table.Reset()
	}
	m.balanced(t)
}

func expectSent(t *testing.T, table *rendezvous.Local, key string, want any) {
	t.Helper()
	called := false
	table.Recv(context.Background(), key, func(x *core.Tensor, dead bool, err error) {
		called = true
		switch {
		case err != nil || dead != (want == nil):
			t.Errorf("%s: dead %v, error %v", key, dead, err)
		case !dead && x.At(0) != want:
			t.Errorf("%s: got %v, want %v", key, x, want)
		}
		if x != nil {
			x.Release()
		}
	})
	if !called {
		t.Errorf("nothing was sent for %s", key)
	}
}

// count is a loop that adds 1 to i until it is not less than the limit, at
// most n iterations at once.
func count(name, from, limit string, n int) string {
	return fmt.Sprintf(`
	%[1]s/i = Enter[frame_name="%[1]s", parallel_iterations=%[4]d](%[2]s)
	%[1]s/n = Enter[frame_name="%[1]s", is_constant=true](%[3]s)
	%[1]s/one = Enter[frame_name="%[1]s", is_constant=true](one)
	%[1]s/m = Merge(%[1]s/i, %[1]s/next)
	%[1]s/less = Less(%[1]s/m, %[1]s/n)
	%[1]s/cond = LoopCond(%[1]s/less)
	%[1]s/s = Switch(%[1]s/m, %[1]s/cond)
	%[1]s/exit = Exit(%[1]s/s)
	%[1]s/add = Add(%[1]s/s:1, %[1]s/one)
	`, name, from, limit, n)
}

const values = "zero = Value\none = Value[v=1]\nten = Value[v=10]\nfive = Value[v=5]\n"

func TestLoop(t *testing.T) {
	for _, parallel := range []int{1, 2, 10} {
		for _, body := range []string{"Identity", "Later", "Soon"} {
			expect(t, values+count("l", "zero", "ten", parallel)+`
				l/b = `+body+`(l/add)
				l/next = NextIteration(l/b)
				f = Fetch(l/exit)`, map[int]any{0: float32(10)})
		}
	}
}

// TestLoopWithoutIterations: the body is dead at once, the exit lives.
func TestLoopWithoutIterations(t *testing.T) {
	expect(t, values+count("l", "ten", "zero", 10)+"l/next = NextIteration(l/add)\nf = Fetch(l/exit)\ng = Fetch[index=1](l/add)",
		map[int]any{0: float32(10)})
}

// TestLoopRunsAhead: one variable waits, the other does not wait for it until
// the limit of iterations is reached.
func TestLoopRunsAhead(t *testing.T) {
	expect(t, values+count("l", "zero", "ten", 3)+`
		l/next = NextIteration(l/add)
		l/sum = Enter[frame_name="l"](zero)
		l/sm = Merge(l/sum, l/snext)
		l/ss = Switch(l/sm, l/cond)
		l/sexit = Exit(l/ss)
		l/slow = Later(l/ss:1)
		l/sadd = Add(l/slow, l/add)
		l/snext = NextIteration(l/sadd)
		f = Fetch(l/exit)
		g = Fetch[index=1](l/sexit)`, map[int]any{0: float32(10), 1: float32(55)})
}

// TestNestedLoops sums 5 over 10 rounds, each counted by an inner loop.
func TestNestedLoops(t *testing.T) {
	for _, body := range []string{"Identity", "Later"} {
		inner := `
			o/one = Enter[frame_name="o", is_constant=true](one)
			o/zero = Enter[frame_name="o", is_constant=true](zero)
			o/five = Enter[frame_name="o", is_constant=true](five)
			o/sum = Enter[frame_name="o"](zero)
			o/sm = Merge(o/sum, o/snext)
			o/i = Enter[frame_name="o"](zero)
			o/n = Enter[frame_name="o", is_constant=true](ten)
			o/m = Merge(o/i, o/next)
			o/less = Less(o/m, o/n)
			o/cond = LoopCond(o/less)
			o/s = Switch(o/m, o/cond)
			o/exit = Exit(o/s)
			o/add = Add(o/s:1, o/one)
			o/next = NextIteration(o/add)
			o/ss = Switch(o/sm, o/cond)
			o/sexit = Exit(o/ss)
			in/begin = Identity(o/ss:1)
			in/i = Enter[frame_name="in"](o/zero)
			in/sum = Enter[frame_name="in"](in/begin)
			in/n = Enter[frame_name="in", is_constant=true](o/five)
			in/one = Enter[frame_name="in", is_constant=true](o/one)
			in/m = Merge(in/i, in/next)
			in/less = Less(in/m, in/n)
			in/cond = LoopCond(in/less)
			in/s = Switch(in/m, in/cond)
			in/add = Add(in/s:1, in/one)
			in/b = ` + body + `(in/add)
			in/next = NextIteration(in/b)
			in/sm = Merge(in/sum, in/snext)
			in/ss = Switch(in/sm, in/cond)
			in/sadd = Add(in/ss:1, in/one)
			in/snext = NextIteration(in/sadd)
			in/sexit = Exit(in/ss)
			o/snext = NextIteration(in/sexit)
			f = Fetch(o/sexit)`
		expect(t, values+inner, map[int]any{0: float32(50)})
	}
}

// TestLoopNotTaken: a loop that is entered dead ends, and its exits are dead.
func TestLoopNotTaken(t *testing.T) {
	text := fmt.Sprintf(choice, "five") + "zero = Value\nten = Value[v=10]\n" + count("l", "no", "ten", 10) + `
		l/next = NextIteration(l/add)
		out = Merge(l/exit, yes)
		f = Fetch(out)
		after = Value(^l/exit)
		g = Fetch[index=1](after)`
	expect(t, text, map[int]any{0: float32(6)})
}

// TestLoopNotTakenAfterControl: so does one whose Merge waits for something of the loop that
// is not dead, too, and comes later.
func TestLoopNotTakenAfterControl(t *testing.T) {
	text := fmt.Sprintf(choice, "five") + "zero = Value\nten = Value[v=10]\n" + count("l", "no", "ten", 10) + `
		l/late = Later(l/one)
		l/next = NextIteration(l/add)
		t = ControlTrigger(^l/exit)
		f = Fetch(x, ^t)`
	expect(t, strings.Replace(text, "l/m = Merge(l/i, l/next)", "l/m = Merge(l/i, l/next, ^l/late)", 1), map[int]any{0: float32(3)})
}

// TestLoopTaken: a loop in the branch that is chosen.
func TestLoopTaken(t *testing.T) {
	text := fmt.Sprintf(choice, "five") + "zero = Value\nten = Value[v=10]\n" + count("l", "yes", "ten", 10) + `
		l/next = NextIteration(l/add)
		out = Merge(l/exit, no)
		f = Fetch(out)`
	expect(t, text, map[int]any{0: float32(10)})
}

// TestFrames: kernels see where they run, as peers would know it.
func TestFrames(t *testing.T) {
	id := rendezvous.FrameID(0, 0, "l")
	expect(t, values+count("l", "zero", "five", 10)+`
		l/next = NextIteration(l/add)
		l/w = Where(l/add)
		l/win = Enter[frame_name="l"](frame0)
		w0 = Where(zero)
		frame0 = Identity(w0:1)
		l/wm = Merge(l/win, l/wnext)
		l/ws = Switch(l/wm, l/cond)
		l/wnext = NextIteration(l/w:1)
		l/wtouch = Identity(l/ws:1)
		l/wexit = Exit(l/ws)
		l/fin = Enter[frame_name="l"](w0)
		l/fm = Merge(l/fin, l/fnext)
		l/fs = Switch(l/fm, l/cond)
		l/fnext = NextIteration(l/w)
		l/fexit = Exit(l/fs)
		f = Fetch(l/wexit)
		g = Fetch[index=1](l/fexit)
		h = Fetch[index=2](w0)`,
		map[int]any{0: int64(4), 1: int64(id), 2: int64(0)})
}

// TestLoopFails: an error in an iteration ends the run and leaves nothing.
func TestLoopFails(t *testing.T) {
	for _, body := range []string{"Fail", "FailLater", "Panic"} {
		m := prepare(t, values+count("l", "zero", "ten", 10)+`
			l/slow = Later(l/add)
			l/bad = Less(l/add, l/n)
			l/sw = Switch(l/slow, l/bad)
			l/err = `+body+`(l/sw)
			l/merge = Merge(l/err, l/sw:1)
			l/next = NextIteration(l/merge)
			f = Fetch(l/exit)`)
		for range 3 {
			if got, err := m.run(t.Context()); err == nil || core.AsError(err).Node != "l/err" {
				t.Errorf("%s: got %v, %v", body, got, err)
			}
		}
		m.balanced(t)
	}
}

// TestReferenceInLoop: what is entered is the value that a reference has then.
func TestReferenceInLoop(t *testing.T) {
	expect(t, values+"v = Variable\n"+count("l", "zero", "v", 4)+"l/next = NextIteration(l/add)\nf = Fetch(l/exit)",
		map[int]any{0: float32(7)})
}
