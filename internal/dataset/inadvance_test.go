package dataset

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/gorge-tf/gorge/tf/core"
)

// TestErrorsInAdvanceAreSaved: an error that has been computed in advance belongs to the
// state; what comes after it may ignore it.
func TestErrorsInAdvanceAreSaved(t *testing.T) {
	third := func(_ context.Context, e []*core.Tensor) ([]*core.Tensor, error) {
		if core.Data[int64](e[0])[0]%3 == 2 {
			return nil, core.Errorf(core.InvalidArgument, "third")
		}
		return e, nil
	}
	for name, d := range map[string]Dataset{
		"map":      ParallelMap(numbers(t, 0, 9, 1), third, scalars, true, 4, true),
		"any":      ParallelMap(numbers(t, 0, 9, 1), third, scalars, true, 1, false),
		"prefetch": Prefetch(Map(numbers(t, 0, 9, 1), third, scalars, true), 4),
	} {
		for n, want := range []string{"[[0] [1] [3] [4] [6] [7]]", "[[1] [3] [4] [6] [7]]", "[[3] [4] [6] [7]]", "[[4] [6] [7]]"} {
			it := mustIterate(t, IgnoreErrors(d))
			take(t, it, n)
			if p, ok := it.(*ignoreIterator).input.(*prefetchIterator); ok && p.ready != nil {
				for len(p.ready) < 4 {
					time.Sleep(time.Millisecond)
				}
			}
			s := NewState()
			it.Save(s)
			it.Close()
			if s.Err() != nil {
				t.Errorf("%s after %d: %v", name, n, s.Err())
				continue
			}
			again, state := mustIterate(t, IgnoreErrors(d)), sent(t, s)
			if again.Restore(t.Context(), state); state.Err() != nil {
				t.Fatal(state.Err())
			}
			if got := fmt.Sprint(rest(t, again)); got != want {
				t.Errorf("%s after %d: got %s, want %s", name, n, got, want)
			}
			again.Close()
		}
	}
}
