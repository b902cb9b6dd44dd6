//go:build rdma && cgo && linux

package ibv

/*
#cgo LDFLAGS: -libverbs
#cgo nocallback gorge_poll
#cgo noescape gorge_poll
#cgo nocallback gorge_post_send
#cgo noescape gorge_post_send
#cgo nocallback gorge_post_recv
#cgo noescape gorge_post_recv
#include <stdlib.h>
#include "shim.h"
*/
import "C"

import (
	"errors"
	"fmt"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/gorge-tf/gorge/tf/core"
)

// Built says whether libibverbs is part of this program.
const Built = true

// errno makes an error of what a call of the library has returned.
func errno(what string, rc C.int) error {
	if rc == 0 {
		return nil
	}
	if rc < 0 {
		rc = -rc
	}
	return fmt.Errorf("ibv: %s: %w", what, syscall.Errno(rc))
}

// gone makes an error nil that tells that the device has been removed, and with
// it what was to be destroyed.
func gone(err error) error {
	if errors.Is(err, syscall.EIO) || errors.Is(err, syscall.ENODEV) {
		return nil
	}
	return err
}

// devices calls f with all devices that there are.
func devices(f func([]*C.struct_ibv_device) error) error {
	var n C.int
	list, err := C.ibv_get_device_list(&n)
	if list == nil {
		return noDevices(err)
	}
	defer C.ibv_free_device_list(list)
	return f(unsafe.Slice(list, int(n)))
}

// noDevices says why there is not even a list of devices.
func noDevices(err error) error {
	switch {
	case errors.Is(err, syscall.ENOSYS):
		return core.Errorf(core.FailedPrecondition, "the kernel of this machine has no RDMA: load its modules (ib_uverbs, and the driver of the card: mlx5_ib, say, or rdma_rxe for one in software), or, in a container, let it see /sys/class/infiniband_verbs and /dev/infiniband: %v", err)
	case errors.Is(err, syscall.EACCES), errors.Is(err, syscall.EPERM):
		return core.Errorf(core.PermissionDenied, "RDMA devices cannot be listed: %v", err)
	}
	return core.Errorf(core.FailedPrecondition, "RDMA devices cannot be listed: %v", err)
}

// open opens a device of the list.
func open(d *C.struct_ibv_device) (*C.struct_ibv_context, error) {
	name := C.GoString(C.ibv_get_device_name(d))
	c, err := C.ibv_open_device(d)
	if c != nil {
		return c, nil
	}
	node := "/dev/infiniband/" + C.GoString(&d.dev_name[0])
	// The library looks for a node that it may not open elsewhere, and then says
	// that there is none.
	mayNot := unix.Access(node, unix.R_OK|unix.W_OK) == syscall.EACCES
	switch {
	case mayNot, errors.Is(err, syscall.EACCES), errors.Is(err, syscall.EPERM):
		return nil, core.Errorf(core.PermissionDenied, "RDMA device %s cannot be opened: reading and writing %s is not allowed; its mode should be 0666 (udev's rules in rdma-core), or the container's device list must have it", name, node)
	case errors.Is(err, syscall.ENOENT), errors.Is(err, syscall.ENXIO), errors.Is(err, syscall.ENODEV):
		return nil, core.Errorf(core.FailedPrecondition, "RDMA device %s cannot be opened: there is no %s; a container has to be given it: %v", name, node, err)
	}
	return nil, core.Errorf(core.FailedPrecondition, "RDMA device %s cannot be opened: %v", name, err)
}

// List describes the devices of this machine.
func List() (out []DeviceInfo, err error) {
	err = devices(func(list []*C.struct_ibv_device) error {
		out = inspectAll(list)
		return nil
	})
	return out, err
}

func inspectAll(list []*C.struct_ibv_device) []DeviceInfo {
	var out []DeviceInfo
	for _, d := range list {
		out = append(out, inspect(d))
	}
	return out
}

// inspect opens a device for a moment to look at its ports.
func inspect(d *C.struct_ibv_device) DeviceInfo {
	info := DeviceInfo{Name: C.GoString(C.ibv_get_device_name(d))}
	info.Node = deviceNode(sysfs, info.Name)
	var c *C.struct_ibv_context
	if c, info.Err = open(d); info.Err != nil {
		return info
	}
	defer C.ibv_close_device(c)
	var attr C.struct_ibv_device_attr
	if info.Err = errno("ibv_query_device", C.ibv_query_device(c, &attr)); info.Err != nil {
		return info
	}
	for n := 1; n <= int(attr.phys_port_cnt); n++ {
		p, err := inspectPort(c, n)
		if err != nil {
			info.Err = err
			return info
		}
		info.Ports = append(info.Ports, p)
	}
	return info
}

func inspectPort(c *C.struct_ibv_context, num int) (PortInfo, error) {
	var a C.struct_ibv_port_attr
	if err := errno("ibv_query_port", C.gorge_query_port(c, C.int(num), &a)); err != nil {
		return PortInfo{}, err
	}
	p := PortInfo{
		Num: num, State: C.GoString(C.ibv_port_state_str(a.state)), Active: a.state == C.IBV_PORT_ACTIVE,
		Ethernet: a.link_layer == C.IBV_LINK_LAYER_ETHERNET, LID: uint16(a.lid), MTU: mtuOf(int(a.active_mtu)), MaxMessage: int(a.max_msg_sz),
	}
	for i := range int(a.gid_tbl_len) {
		g := GIDInfo{Index: i}
		var typ C.int
		if C.gorge_query_gid(c, C.int(num), C.int(i), (*C.uint8_t)(&g.GID[0]), &typ) == 0 {
			g.Type = typeOf(typ)
			p.GIDs = append(p.GIDs, g)
		} // else an empty place of the table
	}
	return p, nil
}

func typeOf(typ C.int) string {
	switch typ {
	case C.IBV_GID_TYPE_ROCE_V2:
		return TypeRoCEv2
	case C.IBV_GID_TYPE_ROCE_V1:
		return TypeRoCEv1
	}
	return TypeIB
}
