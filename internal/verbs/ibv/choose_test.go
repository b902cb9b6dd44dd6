package ibv

import (
	"net/netip"
	"strings"
	"testing"

	"github.com/gorge-tf/gorge/internal/verbs"
	"github.com/gorge-tf/gorge/tf/core"
)

func gid(index int, typ, addr string) GIDInfo {
	return GIDInfo{Index: index, GID: verbs.GID(netip.MustParseAddr(addr).As16()), Type: typ}
}

// roce is a device with an active port on Ethernet that has an IPv4 address.
func roce(name, addr string) DeviceInfo {
	return DeviceInfo{Name: name, Node: noNode, Ports: []PortInfo{{
		Num: 1, State: "PORT_ACTIVE", Active: true, Ethernet: true, MTU: 1024,
		GIDs: []GIDInfo{gid(0, TypeRoCEv1, "fe80::1"), gid(1, TypeRoCEv2, "fe80::1"), gid(2, TypeRoCEv1, addr), gid(3, TypeRoCEv2, addr)},
	}}}
}

// at puts a device at a node.
func at(node int, d DeviceInfo) DeviceInfo {
	d.Node = node
	return d
}

func infiniband(name string) DeviceInfo {
	return DeviceInfo{Name: name, Node: noNode, Ports: []PortInfo{
		{Num: 1, State: "PORT_DOWN", LID: 3},
		{Num: 2, State: "PORT_ACTIVE", Active: true, LID: 7, MTU: 4096, GIDs: []GIDInfo{gid(0, TypeIB, "fe80::7"), gid(1, TypeIB, "fec0::7")}},
	}}
}

func dark(name string) DeviceInfo {
	return DeviceInfo{Name: name, Node: noNode, Ports: []PortInfo{{Num: 1, State: "PORT_DOWN", Ethernet: true}}}
}

// TestChoose: the device, port and GID are those of TensorFlow's rules, and where
// those leave several, the one that has the server's address.
func TestChoose(t *testing.T) {
	one := 1
	two := roce("two", "10.0.0.2")
	two.Ports[0].GIDs = append(two.Ports[0].GIDs, gid(5, TypeRoCEv2, "10.0.0.5"))
	for _, c := range []struct {
		name    string
		devices []DeviceInfo
		set     func(*Options)
		device  string
		port    int
		gid     int
	}{
		{"the only one", []DeviceInfo{roce("a", "10.0.0.1")}, nil, "a", 1, 3},
		{"the only active one", []DeviceInfo{dark("x"), roce("a", "10.0.0.1")}, nil, "a", 1, 3},
		{"the one named", []DeviceInfo{roce("a", "10.0.0.1"), roce("b", "10.0.0.2")}, func(o *Options) { o.Device = "b" }, "b", 1, 3},
		{"the one at the address", []DeviceInfo{roce("a", "10.0.0.1"), roce("b", "10.0.0.2")}, func(o *Options) { o.Address = netip.MustParseAddr("10.0.0.2") }, "b", 1, 3},
		{"the nearest one", []DeviceInfo{at(0, roce("a", "10.0.0.1")), at(1, roce("b", "10.0.0.2"))}, func(o *Options) { o.Node = &one }, "b", 1, 3},
		{"the one at the address, not the nearest", []DeviceInfo{at(0, roce("a", "10.0.0.1")), at(1, roce("b", "10.0.0.2"))}, func(o *Options) { o.Node, o.Address = &one, netip.MustParseAddr("10.0.0.1") }, "a", 1, 3},
		{"the GID at the address", []DeviceInfo{two}, func(o *Options) { o.Address = netip.MustParseAddr("::ffff:10.0.0.5") }, "two", 1, 5},
		{"the GID with an IPv6 address", []DeviceInfo{roce("a", "10.0.0.1")}, func(o *Options) { o.Address = netip.MustParseAddr("fe80::1") }, "a", 1, 1},
		{"the GID that is set", []DeviceInfo{two}, func(o *Options) { o.GIDIndex = &one }, "two", 1, 1},
		{"InfiniBand", []DeviceInfo{infiniband("ib")}, nil, "ib", 2, 0},
		{"the port that is set", []DeviceInfo{infiniband("ib")}, func(o *Options) { o.Device, o.Port, o.MTU = "ib", 2, 2048 }, "ib", 2, 0},
	} {
		o := Defaults()
		if c.set != nil {
			c.set(&o)
		}
		got, err := choose(c.devices, &o)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if d := c.devices[got.device].Name; d != c.device || got.port.Num != c.port || got.gid.Index != c.gid {
			t.Errorf("%s: %s port %d GID %d, want %s port %d GID %d", c.name, d, got.port.Num, got.gid.Index, c.device, c.port, c.gid)
		}
		if o.MTU != 0 && got.mtu != o.MTU {
			t.Errorf("%s: MTU %d, want %d", c.name, got.mtu, o.MTU)
		}
	}
}

// TestCannotChoose: what is wrong is said, in TensorFlow's words where it has
// some (its issues 9926, 13799, 22077 and 34863 are about them).
func TestCannotChoose(t *testing.T) {
	nine := 9
	two := roce("two", "10.0.0.2")
	two.Ports[0].GIDs = append(two.Ports[0].GIDs, gid(5, TypeRoCEv2, "10.0.0.5"))
	noAddress := roce("bare", "10.0.0.1")
	noAddress.Ports[0].GIDs = noAddress.Ports[0].GIDs[:2]
	for _, c := range []struct {
		devices []DeviceInfo
		set     func(*Options)
		code    core.Code
		says    string
	}{
		{nil, nil, core.FailedPrecondition, "no RDMA device"},
		{[]DeviceInfo{dark("x")}, nil, core.FailedPrecondition, "There is no active port in the system: x (port 1 PORT_DOWN)"},
		{[]DeviceInfo{roce("a", "10.0.0.1"), roce("b", "10.0.0.2")}, nil, core.InvalidArgument, "Please enter RDMA_DEVICE: a (port 1 PORT_ACTIVE); b (port 1 PORT_ACTIVE)"},
		{[]DeviceInfo{at(0, roce("a", "10.0.0.1")), at(0, roce("b", "10.0.0.2"))}, func(o *Options) { o.Node = new(int) }, core.InvalidArgument, "Please enter RDMA_DEVICE: a (NUMA node 0"},
		{[]DeviceInfo{roce("a", "10.0.0.1")}, func(o *Options) { o.Device = "z" }, core.NotFound, `no RDMA device "z"`},
		{[]DeviceInfo{dark("x")}, func(o *Options) { o.Device = "x" }, core.FailedPrecondition, "x must have an active port"},
		{[]DeviceInfo{infiniband("ib")}, func(o *Options) { o.Device, o.Port = "ib", 1 }, core.FailedPrecondition, "port 1 of ib must be active"},
		{[]DeviceInfo{{Name: "locked", Node: noNode, Err: core.Errorf(core.PermissionDenied, "locked up")}}, func(o *Options) { o.Device = "locked" }, core.PermissionDenied, "locked up"},
		{[]DeviceInfo{two}, nil, core.InvalidArgument, "More than one IP is available, please specify GID_INDEX"},
		{[]DeviceInfo{noAddress}, nil, core.FailedPrecondition, "no GID of RoCE v2 with an IPv4 address"},
		{[]DeviceInfo{two}, func(o *Options) { o.GIDIndex = &nine }, core.InvalidArgument, "no GID with the index 9"},
		{[]DeviceInfo{roce("a", "10.0.0.1")}, func(o *Options) { o.MTU = 4096 }, core.InvalidArgument, "at most the active MTU of port 1 of a, 1024"},
	} {
		o := Defaults()
		if c.set != nil {
			c.set(&o)
		}
		got, err := choose(c.devices, &o)
		if core.CodeOf(err) != c.code || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %+v, %v, want %v with %q", describe(c.devices), got, err, c.code, c.says)
		}
	}
}

// TestFromEnv: the variables are TensorFlow's, and so are the defaults.
func TestFromEnv(t *testing.T) {
	none := func(string) (string, bool) { return "", false }
	o, err := FromEnv(none)
	if err != nil || o.QueueDepth != 1024 || o.Timeout != 14 || o.RetryCnt != 7 || o.GIDIndex != nil || o.Device != "" || o.Port != 0 || o.PKey != 0 || o.ServiceLevel != 0 || o.MTU != 0 || o.TrafficClass != 0 {
		t.Errorf("without variables: %+v, %v", o, err)
	}
	env := map[string]string{
		"RDMA_DEVICE": "mlx5_1", "RDMA_DEVICE_PORT": "2", "RDMA_GID_INDEX": "3", "RDMA_PKEY": "4", "RDMA_QUEUE_DEPTH": "64", "RDMA_TIMEOUT": "18",
		"RDMA_RETRY_CNT": "5", "RDMA_SL": "6", "RDMA_MTU": "2048", "RDMA_TRAFFIC_CLASS": "106",
	}
	lookup := func(name string) (string, bool) { v, ok := env[name]; return v, ok }
	o, err = FromEnv(lookup)
	if err != nil || o.Device != "mlx5_1" || o.Port != 2 || o.GIDIndex == nil || *o.GIDIndex != 3 || o.PKey != 4 || o.QueueDepth != 64 || o.Timeout != 18 || o.RetryCnt != 5 || o.ServiceLevel != 6 || o.MTU != 2048 || o.TrafficClass != 106 {
		t.Errorf("with all variables: %+v, %v", o, err)
	}
	for name, bad := range map[string]string{
		"RDMA_DEVICE_PORT": "0", "RDMA_GID_INDEX": "-1", "RDMA_PKEY": "x", "RDMA_QUEUE_DEPTH": "0", "RDMA_TIMEOUT": "32", "RDMA_RETRY_CNT": "8",
		"RDMA_SL": "8", "RDMA_MTU": "1500", "RDMA_TRAFFIC_CLASS": "256",
	} {
		good := env[name]
		env[name] = bad
		if _, err := FromEnv(lookup); core.CodeOf(err) != core.InvalidArgument || !strings.Contains(err.Error(), bad) {
			t.Errorf("%s=%s gives %v", name, bad, err)
		}
		env[name] = good
	}
	delete(env, "RDMA_DEVICE")
	if _, err := FromEnv(lookup); core.CodeOf(err) != core.InvalidArgument || !strings.Contains(err.Error(), "RDMA_DEVICE") {
		t.Errorf("a port without a device gives %v", err)
	}
}
