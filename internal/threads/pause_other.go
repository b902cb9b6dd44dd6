//go:build !amd64 || noasm

package threads

import "sync/atomic"

var paused atomic.Uint64

// pause waits for some cycles, n times.
func pause(n int) {
	for range 8 * n {
		paused.Load()
	}
}
