package executor_test

import (
	"maps"
	"testing"
)

// TestSettledNodes: by a plan, what depends on nothing but constants and variables that
// no iteration changes is computed once in each run, what the body reads not at all
// if that never runs; node by node it is computed in each iteration, and what reads no
// variable also where the loop ends. The results are the same.
func TestSettledNodes(t *testing.T) {
	const text = `
	l/k/i = Enter[frame_name="l", is_constant=true](five)
	l/same = Counted(l/k/i)
	l/again = Add(l/same, l/kept/s:1)
	l/sum = Counted(l/again)
	l/moving = Counted(l/s:1)
	l/part = Add(l/a/s:1, l/sum)
	l/whole = Add(l/part, l/moving)
	`
	variables := loopVariable("kept", "one", "l/kept/s:1") + loopVariable("a", "zero", "l/whole") + "g = Fetch[index=1](l/a/exit)\n"
	for _, c := range []struct {
		limit          string
		want           map[int]any
		planned, plain map[string]int
	}{
		{"ten", map[int]any{0: float32(10), 1: float32(105)}, map[string]int{"l/same": 1, "l/sum": 1, "l/moving": 10}, map[string]int{"l/same": 11, "l/sum": 10, "l/moving": 10}},
		{"zero", map[int]any{0: float32(0), 1: float32(0)}, map[string]int{"l/same": 1}, map[string]int{"l/same": 1}},
	} {
		m := prepare(t, values+count("l", "zero", c.limit, 4)+"l/next = NextIteration(l/add)\nf = Fetch(l/exit)\n"+variables+text)
		if m.Planned() != 1 {
			t.Fatal("has no plan")
		}
		for range 3 {
			clear(computed)
			m.gives(t, c.want)
			if !maps.Equal(computed, c.planned) {
				t.Errorf("to %s, by a plan: computed %v, want %v", c.limit, computed, c.planned)
			}
		}
		m.step.Tracer = deaf{}
		clear(computed)
		m.gives(t, c.want)
		if !maps.Equal(computed, c.plain) {
			t.Errorf("to %s, node by node: computed %v, want %v", c.limit, computed, c.plain)
		}
		m.balanced(t)
	}
}
