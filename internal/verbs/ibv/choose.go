package ibv

import (
	"fmt"
	"net/netip"
	"strings"

	"github.com/gorge-tf/gorge/internal/verbs"
	"github.com/gorge-tf/gorge/tf/core"
)

// A DeviceInfo describes a device of this machine.
type DeviceInfo struct {
	Name  string
	Err   error // why it cannot be opened, nil if it can
	Node  int   // of memory that it is at (NUMA), -1 if none
	Ports []PortInfo
}

// A PortInfo describes a port of a device.
type PortInfo struct {
	Num        int // from 1
	State      string
	Active     bool
	Ethernet   bool // else InfiniBand
	LID        uint16
	MTU        int // active
	MaxMessage int
	GIDs       []GIDInfo
}

// A GIDInfo is one of the identifiers of a port.
type GIDInfo struct {
	Index int
	GID   verbs.GID
	Type  string // RoCEv1, RoCEv2 or IB
}

// The types of GIDs.
const (
	TypeIB     = "IB"
	TypeRoCEv1 = "RoCE v1"
	TypeRoCEv2 = "RoCE v2"
)

// Addr is the IP address that a GID of RoCE v2 stands for.
func (g GIDInfo) Addr() netip.Addr { return netip.AddrFrom16(g.GID).Unmap() }

// String shows the GID with its index and type.
func (g GIDInfo) String() string { return fmt.Sprintf("GID %d %v (%s)", g.Index, g.Addr(), g.Type) }

// A choice is what a server uses.
type choice struct {
	device int // index
	port   PortInfo
	gid    GIDInfo
	mtu    int
}

// choose finds the device, port and GID that the options mean.
func choose(all []DeviceInfo, o *Options) (choice, error) {
	if len(all) == 0 {
		return choice{}, errNoDevice
	}
	device, port, err := choosePort(all, o)
	if err != nil {
		return choice{}, err
	}
	c := choice{device: device, port: port, mtu: port.MTU}
	if c.gid, err = chooseGID(all[device].Name, port, o); err != nil {
		return choice{}, err
	}
	if o.MTU > port.MTU {
		return choice{}, core.Errorf(core.InvalidArgument, "RDMA_MTU must be at most the active MTU of port %d of %s, %d, got %d", port.Num, all[device].Name, port.MTU, o.MTU)
	}
	if o.MTU > 0 {
		c.mtu = o.MTU
	}
	return c, nil
}

var errNoDevice = core.Errorf(core.FailedPrecondition, "this machine has no RDMA device: the list of libibverbs is empty. "+
	"A network card needs its driver and its provider library (package ibverbs-providers or rdma-core); a container needs /dev/infiniband and /sys/class/infiniband of its host; "+
	"without a card, `rdma link add rxe0 type rxe netdev eth0` makes a device in software")

// choosePort finds the device and its port.
func choosePort(all []DeviceInfo, o *Options) (int, PortInfo, error) {
	if o.Device != "" {
		return namedPort(all, o)
	}
	var found []int
	for i, d := range all {
		if _, ok := d.firstActive(); ok {
			found = append(found, i)
		}
	}
	if len(found) > 1 {
		if at := withAddress(all, found, o.Address); at >= 0 {
			found = []int{at}
		} else if at := nearest(sysfs, all, found, o.node()); at >= 0 {
			found = []int{at}
		}
	}
	switch len(found) {
	case 0:
		return 0, PortInfo{}, core.Errorf(core.FailedPrecondition, "There is no active port in the system: %s", describe(all))
	case 1:
		p, _ := all[found[0]].firstActive()
		return found[0], p, nil
	}
	return 0, PortInfo{}, core.Errorf(core.InvalidArgument, "More than one device with active port in the system. Please enter RDMA_DEVICE: %s", describe(all))
}

// namedPort finds the port of the device that the options name.
func namedPort(all []DeviceInfo, o *Options) (int, PortInfo, error) {
	for i, d := range all {
		if d.Name != o.Device {
			continue
		}
		if d.Err != nil {
			return 0, PortInfo{}, d.Err
		}
		if o.Port == 0 {
			if p, ok := d.firstActive(); ok {
				return i, p, nil
			}
			return 0, PortInfo{}, core.Errorf(core.FailedPrecondition, "%s must have an active port, it is %s", o.Device, describe(all[i:i+1]))
		}
		for _, p := range d.Ports {
			if p.Num == o.Port && p.Active {
				return i, p, nil
			}
		}
		return 0, PortInfo{}, core.Errorf(core.FailedPrecondition, "port %d of %s must be active, the device is %s", o.Port, o.Device, describe(all[i:i+1]))
	}
	return 0, PortInfo{}, core.Errorf(core.NotFound, "there is no RDMA device %q (RDMA_DEVICE), there are: %s", o.Device, describe(all))
}

func (d *DeviceInfo) firstActive() (PortInfo, bool) {
	for _, p := range d.Ports {
		if p.Active {
			return p, true
		}
	}
	return PortInfo{}, false
}

// withAddress returns which of the devices has a GID for an address, -1 if not
// exactly one has.
func withAddress(all []DeviceInfo, some []int, addr netip.Addr) int {
	found := -1
	for _, i := range some {
		p, _ := all[i].firstActive()
		if _, ok := p.gidOf(addr); !ok {
			continue
		}
		if found >= 0 {
			return -1
		}
		found = i
	}
	return found
}

// gidOf returns the GID of an address, that of RoCE v2 if there are several.
func (p *PortInfo) gidOf(addr netip.Addr) (GIDInfo, bool) {
	var found GIDInfo
	ok := false
	for _, g := range p.GIDs {
		if addr.IsValid() && g.Addr() == addr.Unmap() && (!ok || g.Type == TypeRoCEv2) {
			found, ok = g, true
		}
	}
	return found, ok
}

// chooseGID finds the GID by which peers reach a port. On Ethernet that is, as
// in TensorFlow, the one of RoCE v2 with an IPv4 address; of several, the
// server's own.
func chooseGID(device string, p PortInfo, o *Options) (GIDInfo, error) {
	if o.GIDIndex != nil {
		for _, g := range p.GIDs {
			if g.Index == *o.GIDIndex {
				return g, nil
			}
		}
		return GIDInfo{}, core.Errorf(core.InvalidArgument, "port %d of %s has no GID with the index %d (RDMA_GID_INDEX), it has: %s", p.Num, device, *o.GIDIndex, p.gids())
	}
	if g, ok := p.gidOf(o.Address); ok {
		return g, nil
	}
	if !p.Ethernet {
		if len(p.GIDs) == 0 {
			return GIDInfo{}, core.Errorf(core.FailedPrecondition, "port %d of %s has no GID: is there a subnet manager?", p.Num, device)
		}
		return p.GIDs[0], nil
	}
	return p.onlyIPv4(device)
}

func (p *PortInfo) onlyIPv4(device string) (GIDInfo, error) {
	var found []GIDInfo
	for _, g := range p.GIDs {
		if g.Type == TypeRoCEv2 && g.Addr().Is4() {
			found = append(found, g)
		}
	}
	switch len(found) {
	case 0:
		return GIDInfo{}, core.Errorf(core.FailedPrecondition, "port %d of %s has no GID of RoCE v2 with an IPv4 address: its network interface needs one, or RDMA_GID_INDEX has to say which GID to take of: %s", p.Num, device, p.gids())
	case 1:
		return found[0], nil
	}
	return GIDInfo{}, core.Errorf(core.InvalidArgument, "More than one IP is available, please specify GID_INDEX: port %d of %s has %s", p.Num, device, p.gids())
}

func (p *PortInfo) gids() string {
	var out []string
	for _, g := range p.GIDs {
		out = append(out, g.String())
	}
	if len(out) == 0 {
		return "none"
	}
	return strings.Join(out, ", ")
}

// describe lists devices in a line.
func describe(all []DeviceInfo) string {
	var out []string
	for _, d := range all {
		out = append(out, d.String())
	}
	return strings.Join(out, "; ")
}

// String shows the device and the states of its ports.
func (d DeviceInfo) String() string {
	if d.Err != nil {
		return fmt.Sprintf("%s (%v)", d.Name, d.Err)
	}
	var ports []string
	if d.Node > noNode {
		ports = append(ports, fmt.Sprintf("NUMA node %d", d.Node))
	}
	for _, p := range d.Ports {
		ports = append(ports, fmt.Sprintf("port %d %s", p.Num, p.State))
	}
	return fmt.Sprintf("%s (%s)", d.Name, strings.Join(ports, ", "))
}

// String shows what a server uses of the device.
//
//lint:ignore U1000 it is used with -tags rdma
func (c choice) detail(name string) string {
	link := "InfiniBand"
	if c.port.Ethernet {
		link = "Ethernet"
	}
	return fmt.Sprintf("ibverbs, %s port %d (%s), %v, MTU %d", name, c.port.Num, link, c.gid, c.mtu)
}
