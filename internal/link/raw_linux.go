package link

import (
	"syscall"
	"unsafe"
)

// shortTransfer is how many bytes are read or written without telling the scheduler of
// it: the sockets do not block, so that the call takes but microseconds, and to
// tell would wake a thread that looks for long calls.
const shortTransfer = 64 << 10

func read(fd int, b []byte) (int, error) { return transfer(syscall.SYS_READ, fd, b) }

func write(fd int, b []byte) (int, error) { return transfer(syscall.SYS_WRITE, fd, b) }

func transfer(call uintptr, fd int, b []byte) (int, error) {
	if len(b) == 0 {
		return 0, nil
	}
	for {
		var n uintptr
		var err syscall.Errno
		if len(b) <= shortTransfer {
			n, _, err = syscall.RawSyscall(call, uintptr(fd), uintptr(unsafe.Pointer(&b[0])), uintptr(len(b)))
		} else {
			n, _, err = syscall.Syscall(call, uintptr(fd), uintptr(unsafe.Pointer(&b[0])), uintptr(len(b)))
		}
		if err == 0 {
			return int(n), nil
		}
		if err != syscall.EINTR {
			return 0, err
		}
	}
}
