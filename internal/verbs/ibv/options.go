package ibv

import (
	"net/netip"
	"strconv"

	"github.com/gorge-tf/gorge/tf/core"
)

// Options say which device is used, and how. The zero value of a pointer leaves
// the choice to the device.
type Options struct {
	Device   string // "": the only one with an active port, or the one at Address
	Port     int    // from 1; 0: the first active one
	GIDIndex *int   // nil: chosen by the kind of the link
	// Address, if valid, is where the server is reached: the device and the GID
	// that have it come before others.
	Address netip.Addr
	// Node is that of memory (NUMA) to which the device is to be nearest, of those that
	// have an active port and not the address; nil: the one that the process is bound to.
	Node         *int
	PKey         int // index of the partition key
	QueueDepth   int // requests of each kind that a queue pair holds; 0: 1024
	Timeout      int // 4.096 µs · 2^Timeout until a packet is sent again; 0 in Defaults' place: without end
	RetryCnt     int // times that a packet is sent again, 0 to 7
	ServiceLevel int // 0 to 7
	MTU          int // 256 to 4096, 0: that of the port
	TrafficClass int // 0 to 255
	// MaxInline is how many bytes of a request may go along with it; 0: 256,
	// negative: none.
	MaxInline int
	// CopyBelow is the size from which on memory is registered for a single
	// transfer instead of copied; 0: 256 KiB.
	CopyBelow int
}

// TensorFlow's defaults, and what it has no setting for.
const (
	defaultTimeout   = 14
	defaultRetryCnt  = 7
	defaultDepth     = 1024
	defaultInline    = 256
	defaultCopyBelow = 256 << 10
)

// Defaults returns the settings of TensorFlow's servers.
func Defaults() Options {
	return Options{QueueDepth: defaultDepth, Timeout: defaultTimeout, RetryCnt: defaultRetryCnt, MaxInline: defaultInline, CopyBelow: defaultCopyBelow}
}

// FromEnv returns the settings that the variables of TensorFlow's verbs servers
// give, and the defaults for those that are not set. lookup is os.LookupEnv.
func FromEnv(lookup func(string) (string, bool)) (Options, error) {
	o := Defaults()
	o.Device, _ = lookup("RDMA_DEVICE")
	gid, node := -1, -1
	for _, v := range []struct {
		name     string
		to       *int
		min, max int
	}{
		{"RDMA_DEVICE_PORT", &o.Port, 1, 255},
		{"RDMA_GID_INDEX", &gid, 0, 1<<16 - 1},
		{"RDMA_PKEY", &o.PKey, 0, 1<<16 - 1},
		{"RDMA_QUEUE_DEPTH", &o.QueueDepth, 1, 1 << 20},
		{"RDMA_TIMEOUT", &o.Timeout, 0, 31},
		{"RDMA_RETRY_CNT", &o.RetryCnt, 0, 7},
		{"RDMA_SL", &o.ServiceLevel, 0, 7},
		{"RDMA_MTU", &o.MTU, 256, 4096},
		{"RDMA_TRAFFIC_CLASS", &o.TrafficClass, 0, 255},
		{"GORGE_RDMA_NUMA_NODE", &node, 0, 1<<16 - 1},
	} {
		if err := number(lookup, v.name, v.to, v.min, v.max); err != nil {
			return o, err
		}
	}
	if gid >= 0 {
		o.GIDIndex = &gid
	}
	if node >= 0 {
		o.Node = &node
	}
	return o, o.Check()
}

// node is the node that the device is to be nearest to.
func (o *Options) node() int {
	if o.Node != nil {
		return *o.Node
	}
	return memoryNode(sysfs, procfs)
}

func number(lookup func(string) (string, bool), name string, to *int, min, max int) error {
	s, ok := lookup(name)
	if !ok || s == "" {
		return nil
	}
	n, err := strconv.Atoi(s)
	if err != nil || n < min || n > max {
		return core.Errorf(core.InvalidArgument, "%s must be a number from %d to %d, got %q", name, min, max, s)
	}
	*to = n
	return nil
}

// Check finds settings that cannot be.
func (o *Options) Check() error {
	for _, v := range []struct {
		name            string
		value, min, max int
	}{
		{"the port", o.Port, 0, 255}, {"the partition key's index", o.PKey, 0, 1<<16 - 1}, {"the queue depth", o.QueueDepth, 0, 1 << 20},
		{"the timeout", o.Timeout, 0, 31}, {"the number of retries", o.RetryCnt, 0, 7}, {"the service level", o.ServiceLevel, 0, 7},
		{"the traffic class", o.TrafficClass, 0, 255},
	} {
		if v.value < v.min || v.value > v.max {
			return core.Errorf(core.InvalidArgument, "%s of an RDMA device must be from %d to %d, got %d", v.name, v.min, v.max, v.value)
		}
	}
	if o.Port > 0 && o.Device == "" {
		return core.Errorf(core.InvalidArgument, "the port of an RDMA device (RDMA_DEVICE_PORT) needs the device too (RDMA_DEVICE), got port %d", o.Port)
	}
	if o.MTU != 0 && mtuCode(o.MTU) == 0 {
		return core.Errorf(core.InvalidArgument, "the MTU of an RDMA path must be 256, 512, 1024, 2048 or 4096, got %d", o.MTU)
	}
	return nil
}

// mtuCode is how libibverbs writes an MTU, 0 if it cannot.
func mtuCode(mtu int) int {
	for code, n := range mtus {
		if n == mtu && code > 0 {
			return code
		}
	}
	return 0
}

// mtus by their codes.
var mtus = [...]int{0, 256, 512, 1024, 2048, 4096}

//lint:ignore U1000 it is used with -tags rdma
func mtuOf(code int) int {
	if code < 0 || code >= len(mtus) {
		return 0
	}
	return mtus[code]
}
