package savedmodel

import (
	"context"
	"runtime"

	"github.com/gorge-tf/gorge/tf"
)

// turns bounds how many runs of a model are under way. Those that wait go on in the
// order in which they came. Nil bounds nothing.
type turns chan struct{}

// newTurns returns the bound for [Options.Runs].
func newTurns(n int) turns {
	switch {
	case n < 0:
		return nil
	case n == 0:
		n = max(2, runtime.GOMAXPROCS(0))
	}
	return make(turns, n)
}

// take waits for a turn; give ends it.
func (t turns) take(ctx context.Context) error {
	if t == nil {
		return nil
	}
	select {
	case t <- struct{}{}:
		return nil
	default:
	}
	select {
	case t <- struct{}{}:
		return nil
	case <-ctx.Done():
		return tf.Errorf(tf.CodeOf(ctx.Err()), "the run waited for others to end: %w", ctx.Err())
	}
}

func (t turns) give() {
	if t != nil {
		<-t
	}
}
