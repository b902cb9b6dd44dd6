package worker

import (
	"github.com/gorge-tf/gorge/internal/resource"
	"github.com/gorge-tf/gorge/tf"
)

// A privateDevice is the device of an isolated session: it computes where the
// shared one does, but its variables are seen by that session only.
type privateDevice struct {
	tf.Device
	resources *resource.Manager
}

func newPrivateDevice(d tf.Device) *privateDevice {
	return &privateDevice{Device: d, resources: resource.NewManager()}
}

// Resources holds the session's own variables, queues and tables.
func (d *privateDevice) Resources() *resource.Manager { return d.resources }

// Name returns the full name as text.
func (d *privateDevice) Name() string { return d.Spec().String() }
