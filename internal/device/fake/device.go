// Package fake is a device for tests whose memory the host cannot address, as
// that of an accelerator. Importing it makes device type FAKE known, with a
// kernel for every op that has one on the CPU.
//
// The device computes with the CPU's kernels, on tensors that really lie
// in the host's memory. Outside of the device they are opaque: a read of elements
// without a copy by the device panics.
package fake

import (
	"sync"
	"sync/atomic"

	"github.com/gorge-tf/gorge/internal/device"
	"github.com/gorge-tf/gorge/internal/resource"
	"github.com/gorge-tf/gorge/tf/core"
)

// Type is the device type, and the name of its memory space.
const Type = "FAKE"

func init() {
	device.RegisterMaker(Type, func(spec core.DeviceSpec) (core.Device, error) { return New(spec), nil })
	core.RegisterDeviceType(Type, findKernel)
}

// A Device is a FAKE device. It is safe for use by many goroutines.
type Device struct {
	spec        core.DeviceSpec
	name        string
	incarnation uint64
	resources   *resource.Manager
	variables   sync.Mutex // held by kernels that touch variables, whose memory they open
	in, out     counter
}

// New returns a device of the given full name.
func New(spec core.DeviceSpec) *Device {
	return &Device{spec: spec, name: spec.String(), incarnation: device.NewIncarnation(), resources: resource.NewManager(spec.Job)}
}

// counter counts copies.
type counter struct{ tensors, bytes atomic.Int64 }

func (c *counter) add(t *core.Tensor) {
	c.tensors.Add(1)
	c.bytes.Add(int64(t.NumBytes()))
}

// Crossings says how many tensors have been copied to a device or from it, and
// how many bytes they had.
type Crossings struct{ Tensors, Bytes int64 }

// FromHostCount returns what has been copied to the device so far.
func (d *Device) FromHostCount() Crossings { return d.in.load() }

// ToHostCount returns what has been copied from the device so far.
func (d *Device) ToHostCount() Crossings { return d.out.load() }

func (c *counter) load() Crossings { return Crossings{c.tensors.Load(), c.bytes.Load()} }

// Spec returns the full name.
func (d *Device) Spec() core.DeviceSpec { return d.spec }

// Name returns the full name as text.
func (d *Device) Name() string { return d.name }

// Incarnation tells this life of the device from earlier ones.
func (d *Device) Incarnation() uint64 { return d.incarnation }

// MemoryLimit returns 0: the limit is not known.
func (d *Device) MemoryLimit() int64 { return 0 }

// Resources holds the device's variables, whose values are opaque tensors, and
// its other resources.
func (d *Device) Resources() *resource.Manager { return d.resources }

// FromHost copies a tensor in the host's memory to the device. Strings, handles
// and variants are objects of the host wherever they are used.
func (d *Device) FromHost(t *core.Tensor) (*core.Tensor, error) {
	switch {
	case t.Buffer() == nil:
		return t, nil
	case !t.Addressable():
		return nil, core.Errorf(core.Internal, "FromHost copies from the host's memory, the tensor is in space %q", t.Buffer().Space())
	}
	d.in.add(t)
	c := t.Clone()
	defer c.Release()
	return seal(c), nil
}

// ToHost copies a tensor from the device to the host's memory.
func (d *Device) ToHost(t *core.Tensor) (*core.Tensor, error) {
	if t.Buffer() == nil {
		return t, nil
	}
	private, err := open(t)
	if err != nil {
		return nil, err
	}
	defer private.Release()
	d.out.add(t)
	return private.Clone(), nil
}
