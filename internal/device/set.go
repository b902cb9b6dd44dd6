package device

import (
	"maps"
	"slices"
	"strings"

	"github.com/gorge-tf/gorge/tf/core"
)

// A Set holds the devices of one task, in order; the first is the client
// device, where feeds and fetches live.
type Set struct {
	list   []core.Device
	byName map[string]core.Device
}

// NewSet returns the set of the given devices.
func NewSet(devices ...core.Device) *Set {
	s := &Set{list: devices, byName: make(map[string]core.Device, len(devices))}
	for _, d := range devices {
		s.byName[d.Spec().String()] = d
	}
	return s
}

// CPUs returns a set of n CPU devices of one task.
func CPUs(job string, task, n int) *Set {
	list := make([]core.Device, n)
	for i := range list {
		list[i] = NewCPU(core.DeviceSpec{Job: job, Replica: 0, Task: task, Type: "CPU", ID: i})
	}
	return NewSet(list...)
}

// List returns the devices in order.
func (s *Set) List() []core.Device { return s.list }

// Lookup returns the device of a full name, or nil.
func (s *Set) Lookup(name string) core.Device { return s.byName[name] }

// Client returns the device where feeds and fetches live.
func (s *Set) Client() core.Device { return s.list[0] }

// A Maker makes one device of a type.
type Maker func(spec core.DeviceSpec) (core.Device, error)

var makers = map[string]Maker{"CPU": func(s core.DeviceSpec) (core.Device, error) { return NewCPU(s), nil }}

// RegisterMaker tells how devices of a type are made. It is meant for init
// functions of device packages.
func RegisterMaker(typ string, m Maker) {
	if makers[typ] != nil {
		panic("device: type " + typ + " registered twice")
	}
	makers[typ] = m
}

// Make returns the devices of one task: count[type] of each type, one CPU unless count says
// otherwise. CPUs come first.
func Make(job string, task int, count map[string]int) (*Set, error) {
	for _, typ := range slices.Sorted(maps.Keys(count)) {
		if n := count[typ]; n < 0 || n == 0 && typ == "CPU" {
			return nil, core.Errorf(core.InvalidArgument, "the number of devices must not be negative, and that of type CPU must be 1 or more, got %d of type %q", n, typ)
		}
	}
	n := max(count["CPU"], 1)
	list := CPUs(job, task, n).list
	for _, typ := range slices.Sorted(maps.Keys(count)) {
		if typ == "CPU" {
			continue
		}
		for id := range count[typ] {
			d, err := makeOne(core.DeviceSpec{Job: job, Replica: 0, Task: task, Type: typ, ID: id})
			if err != nil {
				return nil, err
			}
			list = append(list, d)
		}
	}
	return NewSet(list...), nil
}

func makeOne(s core.DeviceSpec) (core.Device, error) {
	m := makers[s.Type]
	if m == nil {
		types := slices.Sorted(maps.Keys(makers))
		return nil, core.Errorf(core.InvalidArgument, "a device's type must be one that the program has: %s, got %q", strings.Join(types, ", "), s.Type)
	}
	return m(s)
}
