//go:build rdma && cgo && linux

package ibv_test

import (
	"os"
	"sync/atomic"
	"testing"

	"github.com/gorge-tf/gorge/internal/leaktest"
	"github.com/gorge-tf/gorge/internal/verbs"
	"github.com/gorge-tf/gorge/internal/verbs/ibv"
	"github.com/gorge-tf/gorge/internal/verbs/verbstest"
)

func TestMain(m *testing.M) { leaktest.Main(m) }

// names returns the devices of this machine. Without one there is nothing to
// test, but for the virtual machine that has been made to have them.
func names(t testing.TB) []string {
	t.Helper()
	list, err := ibv.List()
	if err != nil || len(list) == 0 {
		if os.Getenv("RXE_VM") != "" {
			t.Fatalf("the virtual machine has no RDMA device: %v, %v", list, err)
		}
		t.Skipf("no RDMA device here (tools/rxevm runs this test on one): %v, %v", list, err)
	}
	var out []string
	for _, d := range list {
		out = append(out, d.Name)
	}
	return out
}

// options are such that peers that are gone are noticed: with 7 retries the
// software device of the kernel tries for ever.
func options(device string) ibv.Options {
	o := ibv.Defaults()
	o.Device, o.RetryCnt = device, 6
	return o
}

func opened(t testing.TB, o ibv.Options) verbs.Device {
	t.Helper()
	d, err := ibv.Open(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	})
	return d
}

// TestSuite runs between two devices, where there are two.
func TestSuite(t *testing.T) {
	all := names(t)
	var n atomic.Int64
	verbstest.Run(t, func(t *testing.T) verbs.Device {
		return opened(t, options(all[int(n.Add(1))%len(all)]))
	})
}

// TestLoopback runs with both ends on one device.
func TestLoopback(t *testing.T) {
	first := names(t)[0]
	verbstest.Run(t, func(t *testing.T) verbs.Device { return opened(t, options(first)) })
}
