package leaktest

import (
	"testing"
	"time"

	"go.uber.org/goleak"
)

// tests do something and end with a status.
type tests func() int

func (f tests) Run() int { return f() }

// TestRun tells those that stay from those that only take their time, of which
// one that goleak by itself would not wait for.
func TestRun(t *testing.T) {
	stays := make(chan struct{})
	defer close(stays)
	for name, c := range map[string]struct {
		status int
		goes   func()
		waits  time.Duration
		want   int
	}{
		"nothing":        {0, func() {}, patience, 0},
		"a late one":     {0, func() { time.Sleep(700 * time.Millisecond) }, patience, 0},
		"failing tests":  {3, func() { <-stays }, patience, 3},
		"one that stays": {0, func() { <-stays }, 0, 1},
	} {
		t.Run(name, func(t *testing.T) {
			others := goleak.IgnoreCurrent()
			got := run(tests(func() int { go c.goes(); return c.status }), c.waits, others)
			if got != c.want {
				t.Errorf("status %d, want %d", got, c.want)
			}
		})
	}
}
