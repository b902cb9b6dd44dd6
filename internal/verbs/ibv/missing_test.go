//go:build rdma && cgo && linux

package ibv_test

import (
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/gorge-tf/gorge/internal/verbs"
	"github.com/gorge-tf/gorge/internal/verbs/ibv"
	"github.com/gorge-tf/gorge/tf/core"
)

// missing is what a machine may lack, by what GORGE_WANT says that it does.
var missing = map[string]struct {
	code core.Code
	says []string
}{
	"kernel":     {core.FailedPrecondition, []string{"the kernel of this machine has no RDMA", "ib_uverbs", "/dev/infiniband"}},
	"none":       {core.FailedPrecondition, []string{"this machine has no RDMA device", "rdma link add"}},
	"permission": {core.PermissionDenied, []string{"cannot be opened", "/dev/infiniband/uverbs", "0666"}},
	"memlock":    {core.ResourceExhausted, []string{"may lock 65536 bytes", "RLIMIT_MEMLOCK", "ulimit -l"}},
}

// TestMissing: what is missing is said, and how to get it.
func TestMissing(t *testing.T) {
	what := os.Getenv("GORGE_WANT")
	if what == "" {
		if _, err := ibv.List(); err == nil {
			t.Skip("nothing is missing here: .ci/rdma runs this test where something is")
		}
		what = "kernel"
	}
	want, ok := missing[what]
	if !ok {
		t.Fatalf("GORGE_WANT is %q", what)
	}
	o := ibv.Defaults()
	if what == "memlock" || what == "permission" {
		o.Device = "rxe0"
	}
	err := use(o)
	if core.CodeOf(err) != want.code {
		t.Errorf("without %s: %v, want code %v", what, err, want.code)
	}
	for _, s := range want.says {
		if err == nil || !strings.Contains(err.Error(), s) {
			t.Errorf("without %s it is not said: %q, but %v", what, s, err)
		}
	}
}

// use does with a device what a server does.
func use(o ibv.Options) error {
	d, err := ibv.Open(o)
	if err != nil {
		return err
	}
	m, err := verbs.NewManager(d, verbs.Options{})
	if err != nil {
		return err
	}
	return errors.Join(m.Close(), errors.New("nothing is missing"))
}
