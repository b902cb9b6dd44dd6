package executor_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/gorge-tf/gorge/tf/core"
)

// variable is another variable of the loop that count makes.
func loopVariable(name, from, to string) string {
	return fmt.Sprintf(`
	l/%[1]s/i = Enter[frame_name="l"](%[2]s)
	l/%[1]s = Merge(l/%[1]s/i, l/%[1]s/next)
	l/%[1]s/s = Switch(l/%[1]s, l/cond)
	l/%[1]s/next = NextIteration(%[3]s)
	l/%[1]s/exit = Exit(l/%[1]s/s)
	`, name, from, to)
}

var counted = values + count("l", "zero", "ten", 4) + "l/next = NextIteration(l/add)\nl/in = Identity(l/s:1)\nf = Fetch(l/exit)\n"

// plannable are loops, and what they give besides 10.
var plannable = map[string]struct {
	text string
	want map[int]any
}{
	"one variable": {"", nil},
	"unchanged":    {loopVariable("a", "five", "l/a/s:1") + "g = Fetch[index=1](l/a/exit)", map[int]any{1: float32(5)}},
	"a constant":   {loopVariable("a", "five", "l/same") + "l/same = Identity(l/one, ^l/in)\ng = Fetch[index=1](l/a/exit)", map[int]any{1: float32(1)}},
	"a node without inputs": {"l/v = Value[v=3](^l/in)\n" + loopVariable("a", "five", "l/w") + "l/w = Add(l/a/s:1, l/v)\ng = Fetch[index=1](l/a/exit)",
		map[int]any{1: float32(35)}},
	"exchanged": {loopVariable("a", "five", "l/b/s:1") + loopVariable("b", "one", "l/a/s:1") + "g = Fetch[index=1](l/a/exit)\nh = Fetch[index=2](l/b/exit)",
		map[int]any{1: float32(5), 2: float32(1)}},
	"Fibonacci": {loopVariable("a", "zero", "l/b/s:1") + loopVariable("b", "one", "l/sum") + "l/sum = Add(l/a/s:1, l/b/s:1)\ng = Fetch[index=1](l/a/exit)",
		map[int]any{1: float32(55)}},
	"taken twice": {loopVariable("a", "zero", "l/add") + loopVariable("b", "one", "l/add") + "l/use = Add(l/a/s:1, l/b/s:1)\ng = Fetch[index=1](l/b/exit)",
		map[int]any{1: float32(10)}},
	"read before the decision": {loopVariable("a", "zero", "l/twice") + "l/before = Add(l/a, l/m)\nl/bs = Switch(l/before, l/cond)\nl/twice = Identity(l/bs:1)\n" +
		"l/b/exit = Exit(l/bs)\ng = Fetch[index=1](l/a/exit)\nh = Fetch[index=2](l/b/exit)",
		map[int]any{1: float32(45), 2: float32(55)}},
	"left unread": {"l/idle = Add(l/m, l/n)\nl/busy = Add(l/s:1, l/n)\n", nil},
	"in place": {"l/free = InPlace(l/again)\nl/again = Add(l/s:1, l/n)\n" + loopVariable("p", "yes", "l/free") + "yes = Less(zero, one)\ng = Fetch[index=1](l/p/exit)",
		map[int]any{1: true}},
	"not in place": {"l/free = InPlace(l/add)\n" + loopVariable("p", "yes", "l/free") + "yes = Less(zero, one)\ng = Fetch[index=1](l/p/exit)",
		map[int]any{1: false}},
	"control": {"l/c = ControlTrigger(^l/add)\nl/v = Value[v=2](^l/c)\n" + loopVariable("a", "zero", "l/v") + "g = Fetch[index=1](l/a/exit)\nh = Fetch[index=2](one, ^l/a/exit)",
		map[int]any{1: float32(2), 2: float32(1)}},
}

// TestPlannedLoops: the values of loops that have a plan, run by it and, with
// traces, node by node.
func TestPlannedLoops(t *testing.T) {
	for name, c := range plannable {
		t.Run(name, func(t *testing.T) {
			want := map[int]any{0: float32(10)}
			for k, v := range c.want {
				want[k] = v
			}
			m := prepare(t, counted+c.text)
			if m.Planned() != 1 {
				t.Fatal("has no plan")
			}
			for range 3 {
				m.gives(t, want)
			}
			m.step.Tracer = deaf{}
			m.gives(t, want)
			m.balanced(t)
		})
	}
}

// gives compares the results of one run.
func (m *machine) gives(t *testing.T, want map[int]any) {
	t.Helper()
	got, err := m.run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// TestLoopsWithoutPlan: what waits, is skipped or goes its own way is run as it
// gets ready.
func TestLoopsWithoutPlan(t *testing.T) {
	for name, text := range map[string]string{
		"asynchronous":      "l/w = Soon(l/add)",
		"conditional":       "l/q = Less(l/s:1, l/one)\nl/t = Switch(l/add, l/q)\nl/u = Merge(l/t, l/t:1)",
		"two decisions":     "l/cond2 = LoopCond(l/less)\nl/s2 = Switch(l/m, l/cond2)",
		"which input":       "l/which = Identity(l/m:1)",
		"first value":       "l/first = Identity(l/i)",
		"beyond":            "l/last = Identity(l/s)",
		"both at once":      "l/never = Add(l/s, l/s:1)",
		"enters afterwards": "late = Enter[frame_name=\"l\", is_constant=true](l/exit)",
	} {
		m := prepare(t, strings.Replace(counted, "parallel_iterations=4", "parallel_iterations=32", 1)+text)
		if m.Planned() != 0 {
			t.Errorf("%s: has a plan", name)
		}
		m.gives(t, map[int]any{0: float32(10)})
		m.balanced(t)
	}
}

// TestPlannedLoopFails: an error or a panic in a planned loop is its node's.
func TestPlannedLoopFails(t *testing.T) {
	for _, op := range []string{"Fail", "Panic", "Missing", "Mistyped"} {
		in := map[string]string{"Fail": "(l/add)", "Panic": "(l/add)"}[op]
		if in == "" {
			in = "(^l/add)"
		}
		m := prepare(t, counted+"l/err = "+op+in)
		if m.Planned() != 1 {
			t.Errorf("%s: has no plan", op)
		}
		for range 3 {
			if got, err := m.run(t.Context()); err == nil || core.AsError(err).Node != "l/err" {
				t.Errorf("%s: got %v, %v", op, got, err)
			}
		}
		m.balanced(t)
	}
}

// endless is a loop that never ends by itself.
var endless = values + count("l", "zero", "one", 4) + "l/next = NextIteration(l/same)\nl/same = Identity(l/s:1)\nf = Fetch(l/exit)\n"

// TestEndlessLoop: the step's end ends a planned loop, and the failure of a
// node beside it too.
func TestEndlessLoop(t *testing.T) {
	m := prepare(t, endless)
	ctx, cancel := context.WithCancel(t.Context())
	go cancel()
	if _, err := m.run(ctx); core.CodeOf(err) != core.Canceled {
		t.Errorf("got %v, want CANCELED", err)
	}
	m = prepare(t, endless+"late = Later(one)\nbad = FailLater(late)")
	if _, err := m.run(t.Context()); err == nil || core.AsError(err).Node != "bad" {
		t.Errorf("got %v, want the error of bad", err)
	}
	if m.Planned() != 1 {
		t.Fatal("has no plan")
	}
}

// TestLoopGivesWay: nodes beside a loop run while it does; it would never end
// if they did not.
func TestLoopGivesWay(t *testing.T) {
	m := prepare(t, values+count("l", "zero", "ten", 4)+`
		l/next = NextIteration(l/now)
		l/v = RefEnter[frame_name="l", is_constant=true](v)
		l/zero = Enter[frame_name="l", is_constant=true](zero)
		l/now = Add(l/v, l/zero, ^l/in)
		l/in = Identity(l/s:1)
		v = Variable
		late = Later(ten)
		later = Later(late)
		set = Set(v, later)
		f = Fetch(l/exit)`)
	if m.Planned() != 1 {
		t.Fatal("has no plan")
	}
	m.gives(t, map[int]any{0: float32(10)})
}

// TestPlannedLoopEnteredDead: some of what enters is dead, in any order.
func TestPlannedLoopEnteredDead(t *testing.T) {
	for _, from := range []string{"zero", "no"} {
		for _, limit := range []string{"ten", "no", "late"} {
			m := prepare(t, fmt.Sprintf(choice, "five")+"zero = Value\nten = Value[v=10]\nlate = Later(no)\n"+count("l", from, limit, 10)+`
				l/next = NextIteration(l/add)
				out = Merge(l/exit, yes)
				f = Fetch(out)`)
			if m.Planned() != 1 {
				t.Fatal("has no plan")
			}
			want := float32(6)
			if from == "zero" && limit == "ten" {
				want = 10
			}
			for range 3 {
				got, err := m.run(t.Context())
				if err != nil || from+limit != "zeroten" && got[0] != want {
					t.Errorf("from %s to %s: got %v, %v, want %v", from, limit, got, err, want)
				}
			}
			m.balanced(t)
		}
	}
}

// deaf is a tracer that hears of nothing.
type deaf struct{}

func (deaf) Ran(*core.OpContext, string, core.NodeTimes) {}
