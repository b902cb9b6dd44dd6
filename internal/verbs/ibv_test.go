//go:build rdma && cgo && linux

package verbs_test

import (
	"os"
	"sync/atomic"

	"github.com/gorge-tf/gorge/internal/verbs"
	"github.com/gorge-tf/gorge/internal/verbs/ibv"
)

// In the virtual machine that has RDMA devices, the tests of this package run
// over them, tasks by turns on one and the other.
func init() {
	if os.Getenv("RXE_VM") == "" || os.Getenv("GORGE_TEST_SOFT") != "" {
		return
	}
	var n atomic.Int64
	arenaBytes = 4 << 20 // pages are pinned one by one, by an emulated processor
	openDevice = func() (verbs.Device, error) {
		o := ibv.Defaults()
		o.Device = []string{"rxe0", "rxe1"}[n.Add(1)%2]
		o.RetryCnt = 6        // with 7 this device never gives up
		o.CopyBelow = 4 << 10 // as the software provider has it, on which tests rely
		return ibv.Open(o)
	}
}
