//go:build unix

package ibv

import "golang.org/x/sys/unix"

// LockedMemory is how many bytes of memory the process may lock.
func LockedMemory() (limit uint64, unlimited bool) {
	var l unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_MEMLOCK, &l); err != nil {
		return 0, false
	}
	return uint64(l.Cur), uint64(l.Cur) == unix.RLIM_INFINITY
}
