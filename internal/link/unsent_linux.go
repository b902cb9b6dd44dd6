package link

import (
	"syscall"
	"unsafe"
)

// unsentBytes returns how many bytes of a socket its peer has not acknowledged; 1 if
// the system does not say.
func unsentBytes(fd int) int {
	var n int32
	if _, _, err := syscall.RawSyscall(syscall.SYS_IOCTL, uintptr(fd), syscall.TIOCOUTQ, uintptr(unsafe.Pointer(&n))); err != 0 {
		return 1
	}
	return int(n)
}
