package core

import (
	"github.com/gorge-tf/gorge/internal/memory"
	"github.com/gorge-tf/gorge/internal/resource"
)

// What the engine keeps of a device, by names that authors of devices and of stateful
// kernels can write.
type (
	// A Buffer is a reference-counted block of bytes: the memory of a Tensor. Methods
	// Bytes and Len give it to kernels.
	Buffer = memory.Buffer

	// A Pool recycles Buffers. Kernels take memory by OpContext's methods, which use
	// the pool of the step and keep to its share.
	Pool = memory.Pool

	// Resources are the variables, queues and tables of a device or a step, by
	// container and name.
	Resources = resource.Manager
)
