//go:build rdma && cgo && linux

package ibv

/*
#include "shim.h"
*/
import "C"

import (
	"errors"
	"fmt"
	"os"
	"sync"
	"syscall"

	"github.com/gorge-tf/gorge/internal/verbs"
)

// A waiter waits for a file descriptor of the library in Go's network poller. It
// has a descriptor of its own, so that the library may close the original one.
type waiter struct {
	file *os.File
	raw  syscall.RawConn
	busy sync.Mutex // held while Wait waits; close takes it, so that nothing waits after that
}

func newWaiter(fd int, what string) (*waiter, error) {
	if err := errno("fcntl of "+what, C.gorge_nonblock(C.int(fd))); err != nil {
		return nil, err
	}
	own, err := syscall.Dup(fd)
	if err != nil {
		return nil, fmt.Errorf("ibv: cannot wait for %s: %w", what, err)
	}
	syscall.CloseOnExec(own)
	w := &waiter{file: os.NewFile(uintptr(own), what)}
	if w.raw, err = w.file.SyscallConn(); err != nil {
		return nil, errors.Join(err, w.file.Close())
	}
	return w, nil
}

// wait calls get, which returns an errno, until that is not EAGAIN, when there
// is something to read. After close it returns ErrClosed.
func (w *waiter) wait(what string, get func() C.int) error {
	w.busy.Lock()
	defer w.busy.Unlock()
	var rc C.int
	err := w.raw.Read(func(uintptr) bool {
		rc = get()
		return syscall.Errno(rc) != syscall.EAGAIN && syscall.Errno(rc) != syscall.EINTR
	})
	if err != nil {
		return verbs.ErrClosed
	}
	return errno(what, rc)
}

// close ends all waiting.
func (w *waiter) close() error {
	err := w.file.Close()
	w.busy.Lock()
	defer w.busy.Unlock()
	return err
}

// NextEvent waits for an event of the device.
func (d *device) NextEvent() (verbs.Event, error) {
	d.mu.Lock()
	w := d.async
	closed := d.closed
	d.mu.Unlock()
	if closed || w == nil {
		return verbs.Event{}, verbs.ErrClosed
	}
	var e C.struct_gorge_event
	if err := w.wait("ibv_get_async_event", func() C.int { return C.gorge_async_event(d.ctx, &e) }); err != nil {
		return verbs.Event{}, err
	}
	return verbs.Event{Kind: kindOf(e._type), QPN: uint32(e.qpn), Text: C.GoString(C.ibv_event_type_str(C.enum_ibv_event_type(e._type)))}, nil
}

func kindOf(typ C.int32_t) verbs.EventKind {
	switch typ {
	case C.IBV_EVENT_QP_FATAL, C.IBV_EVENT_QP_REQ_ERR, C.IBV_EVENT_QP_ACCESS_ERR:
		return verbs.EventQPFatal
	case C.IBV_EVENT_PORT_ERR:
		return verbs.EventPortDown
	case C.IBV_EVENT_PORT_ACTIVE:
		return verbs.EventPortActive
	case C.IBV_EVENT_DEVICE_FATAL, C.IBV_EVENT_CQ_ERR:
		return verbs.EventDeviceLost
	}
	return verbs.EventOther
}
