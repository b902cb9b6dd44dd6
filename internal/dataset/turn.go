package dataset

import "context"

// A turn holds a token while nobody uses an iterator.
type turn chan struct{}

func newTurn() turn {
	t := make(turn, 1)
	t.leave()
	return t
}

// take waits for the turn. It reports false if ctx ends before.
func (t turn) take(ctx context.Context) bool {
	select {
	case <-t:
		return true
	case <-ctx.Done():
		return false
	}
}

func (t turn) leave() { t <- struct{}{} }
