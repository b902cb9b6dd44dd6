//go:build unix

package memory

import "golang.org/x/sys/unix"

// mapMemory returns size zero bytes straight from the operating system: the
// garbage collector neither scans nor counts them, and their pages are theirs
// alone, as pinning them for a network card demands.
func mapMemory(size int) ([]byte, error) {
	return unix.Mmap(-1, 0, size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON)
}

func unmapMemory(b []byte) error { return unix.Munmap(b) }
