//go:build linux && amd64 && !noasm

package machine

import "golang.org/x/sys/unix"

// executable returns memory of some pages that holds code. It is written before it can be
// executed, and cannot be written afterwards.
func executable(code []byte, size int) ([]byte, error) {
	m, err := unix.Mmap(-1, 0, size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON)
	if err != nil {
		return nil, err
	}
	copy(m, code)
	if err := unix.Mprotect(m, unix.PROT_READ|unix.PROT_EXEC); err != nil {
		unix.Munmap(m)
		return nil, err
	}
	return m, nil
}

func release(m []byte) { unix.Munmap(m) }
