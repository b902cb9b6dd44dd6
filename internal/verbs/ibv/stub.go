//go:build !(rdma && cgo && linux)

package ibv

import (
	"github.com/gorge-tf/gorge/internal/verbs"
	"github.com/gorge-tf/gorge/tf/core"
)

// Built says whether libibverbs is part of this program.
const Built = false

var errNotBuilt = core.Errorf(core.Unimplemented, "this program was built without libibverbs: RDMA devices need `CGO_ENABLED=1 go build -tags rdma` on Linux with the headers of libibverbs (package libibverbs-dev)")

// Open fails: there is no libibverbs in this program.
func Open(Options) (verbs.Device, error) { return nil, errNotBuilt }

// List fails: there is no libibverbs in this program.
func List() ([]DeviceInfo, error) { return nil, errNotBuilt }
