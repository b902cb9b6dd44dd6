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
	"runtime"
	"sync"
	"syscall"
	"unsafe"

	"github.com/gorge-tf/gorge/internal/verbs"
	"github.com/gorge-tf/gorge/tf/core"
)

// A device is an opened device with its protection domain.
type device struct {
	ctx    *C.struct_ibv_context
	pd     *C.struct_ibv_pd
	opts   Options
	choice choice
	attr   verbs.Attributes
	async  *waiter

	mu     sync.Mutex
	closed bool
	pairs  map[uint32]*queuePair
	inUse  int // memory regions and completion queues
}

// Open opens the device that the options mean.
func Open(o Options) (verbs.Device, error) {
	if err := o.Check(); err != nil {
		return nil, err
	}
	d := &device{opts: o, pairs: map[uint32]*queuePair{}}
	if err := devices(d.choose); err != nil {
		return nil, err
	}
	if err := d.setUp(); err != nil {
		return nil, errors.Join(err, d.release())
	}
	return d, nil
}

// choose opens the chosen one of the devices in the list.
func (d *device) choose(list []*C.struct_ibv_device) error {
	all := inspectAll(list)
	c, err := choose(all, &d.opts)
	if err != nil {
		return err
	}
	d.choice = c
	d.attr.Name = all[c.device].Name
	d.ctx, err = open(list[c.device])
	return err
}

func (d *device) setUp() (err error) {
	if d.pd, err = C.ibv_alloc_pd(d.ctx); d.pd == nil {
		return fmt.Errorf("ibv: ibv_alloc_pd: %w", err)
	}
	if d.async, err = newWaiter(int(d.ctx.async_fd), "async events"); err != nil {
		return err
	}
	var a C.struct_ibv_device_attr
	if err := errno("ibv_query_device", C.ibv_query_device(d.ctx, &a)); err != nil {
		return err
	}
	d.attr = verbs.Attributes{
		Name: d.attr.Name, Detail: d.choice.detail(d.attr.Name), LID: d.choice.port.LID, GID: d.choice.gid.GID,
		MaxMessage: d.choice.port.MaxMessage, MaxDepth: int(a.max_qp_wr), MaxCQE: int(a.max_cqe), CopyBelow: d.opts.CopyBelow,
	}
	if d.attr.CopyBelow == 0 {
		d.attr.CopyBelow = defaultCopyBelow
	}
	return d.measureInline()
}

// measureInline finds out how much goes along with a request: a device says that
// only of a queue pair.
func (d *device) measureInline() error {
	if d.opts.MaxInline < 0 {
		return nil
	}
	if d.opts.MaxInline == 0 {
		d.opts.MaxInline = defaultInline
	}
	cq, err := C.ibv_create_cq(d.ctx, 4, nil, nil, 0)
	if cq == nil {
		return fmt.Errorf("ibv: ibv_create_cq: %w", err)
	}
	defer C.ibv_destroy_cq(cq)
	n := C.int(d.opts.MaxInline)
	qp, err := C.gorge_create_qp(d.pd, cq, 1, &n)
	if qp == nil {
		return fmt.Errorf("ibv: ibv_create_qp: %w", err)
	}
	d.attr.MaxInline = int(n)
	return errno("ibv_destroy_qp", C.ibv_destroy_qp(qp))
}

// Attributes describes the device.
func (d *device) Attributes() verbs.Attributes { return d.attr }

// enter counts something that the device must outlive.
func (d *device) enter() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		return verbs.ErrClosed
	}
	d.inUse++
	return nil
}

func (d *device) leave() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.inUse--
}

func (d *device) pair(qpn uint32) *queuePair {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.pairs[qpn]
}

// Close closes the device. It refuses while there are queue pairs, completion
// queues or memory regions.
func (d *device) Close() error {
	d.mu.Lock()
	pairs, others := len(d.pairs), d.inUse
	again := d.closed
	d.closed = pairs+others == 0
	d.mu.Unlock()
	switch {
	case again:
		return nil
	case pairs+others > 0:
		return fmt.Errorf("ibv: a device must not be in use when it is closed, %s has %d queue pairs and %d memory regions and completion queues", d.attr.Name, pairs, others)
	}
	return d.release()
}

// release gives back what setUp has got so far.
func (d *device) release() error {
	var errs []error
	if d.async != nil {
		errs = append(errs, d.async.close())
	}
	if d.pd != nil {
		errs = append(errs, gone(errno("ibv_dealloc_pd", C.ibv_dealloc_pd(d.pd))))
	}
	if d.ctx != nil {
		errs = append(errs, errno("ibv_close_device", C.ibv_close_device(d.ctx)))
	}
	d.async, d.pd, d.ctx = nil, nil, nil
	return errors.Join(errs...)
}

// A region is registered memory. It stays reachable, and where it is, until it
// is deregistered: the device goes on writing to memory that Go has reused.
type region struct {
	dev *device
	mem []byte
	pin runtime.Pinner

	mu sync.Mutex
	mr *C.struct_ibv_mr
	regionNumbers
}

// regionNumbers outlive the registration.
type regionNumbers struct {
	addr       uint64
	lkey, rkey uint32
}

// Register makes mem known to the device.
func (d *device) Register(mem []byte, access verbs.Access) (verbs.MemoryRegion, error) {
	if len(mem) == 0 {
		return nil, errors.New("ibv: memory to be registered must not be empty")
	}
	if access&verbs.RemoteWrite != 0 && access&verbs.LocalWrite == 0 {
		return nil, errors.New("ibv: remote write access needs local write access too")
	}
	if err := d.enter(); err != nil {
		return nil, err
	}
	r := &region{dev: d, mem: mem}
	r.pin.Pin(&mem[0])
	mr, err := C.gorge_reg_mr(d.pd, unsafe.Pointer(&mem[0]), C.size_t(len(mem)), C.int(access))
	if mr == nil {
		r.pin.Unpin()
		d.leave()
		return nil, cannotRegister(len(mem), err)
	}
	r.mr = mr
	r.regionNumbers = regionNumbers{uint64(uintptr(mr.addr)), uint32(mr.lkey), uint32(mr.rkey)}
	return r, nil
}

// cannotRegister says what memory lacks, which is mostly the permission to lock
// it.
func cannotRegister(n int, err error) error {
	limit, unlimited := LockedMemory()
	if errors.Is(err, syscall.ENOMEM) && !unlimited && os.Geteuid() != 0 {
		return core.Errorf(core.ResourceExhausted, "%d bytes cannot be registered for RDMA: the process may lock %d bytes of memory (ulimit -l, RLIMIT_MEMLOCK); limits.conf, LimitMEMLOCK of systemd or --ulimit memlock=-1 of a container raise that: %v", n, limit, err)
	}
	return core.Errorf(core.ResourceExhausted, "%d bytes cannot be registered for RDMA: %v", n, err)
}

func (r *region) Addr() uint64 { return r.addr }
func (r *region) LKey() uint32 { return r.lkey }
func (r *region) RKey() uint32 { return r.rkey }

// Deregister takes the memory from the device.
func (r *region) Deregister() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.mr == nil {
		return errors.New("ibv: the memory region has been deregistered before")
	}
	err := gone(errno("ibv_dereg_mr", C.ibv_dereg_mr(r.mr)))
	if err != nil {
		return err // the device may still use the memory, so it stays
	}
	r.mr, r.mem = nil, nil
	r.pin.Unpin()
	r.dev.leave()
	return nil
}
