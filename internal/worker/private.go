package worker

import (
	"github.com/gorge-tf/gorge/internal/device"
	"github.com/gorge-tf/gorge/internal/resource"
	"github.com/gorge-tf/gorge/tf/core"
)

// A sessionDevice is a device as one session sees it: it computes where the
// task's own does, but under the name that the task has in the session's
// cluster, or with variables that are seen by that session only, or both.
type sessionDevice struct {
	core.Device
	spec      core.DeviceSpec
	name      string
	resources *resource.Manager
}

// sessionDevices returns the devices of set under the names of a task.
func sessionDevices(set *device.Set, task core.DeviceSpec, isolated bool) *device.Set {
	own := make([]core.Device, len(set.List()))
	for i, d := range set.List() {
		s := &sessionDevice{Device: d, spec: d.Spec().Override(task), resources: d.Resources()}
		s.name = s.spec.String()
		if isolated {
			s.resources = resource.NewManager(task.Job)
		}
		own[i] = s
	}
	return device.NewSet(own...)
}

// Spec is the device's name in the session.
func (d *sessionDevice) Spec() core.DeviceSpec { return d.spec }

// Name returns it as text.
func (d *sessionDevice) Name() string { return d.name }

// Resources holds the variables, queues and tables that the session sees.
func (d *sessionDevice) Resources() *resource.Manager { return d.resources }
