//go:build !unix

package ibv

// LockedMemory is how many bytes of memory the process may lock: this system has no
// such limit.
func LockedMemory() (limit uint64, unlimited bool) { return 0, true }
