// Package device holds the host's own devices and the set of devices that a
// process has. Devices of other kinds live in packages of their own.
package device

import (
	"crypto/rand"
	"encoding/binary"

	"github.com/gorge-tf/gorge/internal/resource"
	"github.com/gorge-tf/gorge/tf/core"
)

// A CPU is a device that shares the host's memory. A process may have several;
// they differ in the resources they hold.
type CPU struct {
	spec        core.DeviceSpec
	name        string // spec as text, which every resource op compares
	incarnation uint64
	resources   *resource.Manager
}

// NewCPU returns the CPU device of the given full name.
func NewCPU(spec core.DeviceSpec) *CPU {
	return &CPU{spec: spec, name: spec.String(), incarnation: NewIncarnation(), resources: resource.NewManager(spec.Job)}
}

// NewIncarnation returns a number that tells this life of a device from every
// other. Zero means unknown and is never returned.
func NewIncarnation() uint64 {
	var b [8]byte
	rand.Read(b[:])
	return binary.LittleEndian.Uint64(b[:]) | 1
}

// Spec returns the full name.
func (d *CPU) Spec() core.DeviceSpec { return d.spec }

// Name returns the full name as text.
func (d *CPU) Name() string { return d.name }

// Incarnation tells this life of the device from earlier ones.
func (d *CPU) Incarnation() uint64 { return d.incarnation }

// MemoryLimit returns 256 MiB, what TensorFlow reports of every CPU.
func (d *CPU) MemoryLimit() int64 { return 256 << 20 }

// Resources holds the device's variables, queues and tables.
func (d *CPU) Resources() *resource.Manager { return d.resources }

// FromHost returns t: the memory is shared.
func (d *CPU) FromHost(t *core.Tensor) (*core.Tensor, error) { return t, nil }

// ToHost returns t: the memory is shared.
func (d *CPU) ToHost(t *core.Tensor) (*core.Tensor, error) { return t, nil }
