package dataset

import "context"

// A turn is a mutex for which a goroutine can wait until a context ends. Its channel has a token while it is
// unlocked.
type turn chan struct{}

func newTurn() turn {
	t := make(turn, 1)
	t.leave()
	return t
}

// take locks t. It reports false if ctx ends before.
func (t turn) take(ctx context.Context) bool {
	select {
	case <-t:
		return true
	case <-ctx.Done():
		return false
	}
}

// leave unlocks t.
func (t turn) leave() { t <- struct{}{} }
