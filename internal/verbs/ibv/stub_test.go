//go:build !(rdma && cgo && linux)

package ibv

import (
	"strings"
	"testing"

	"github.com/gorge-tf/gorge/tf/core"
)

// TestNotBuilt: without libibverbs it is said how to get it.
func TestNotBuilt(t *testing.T) {
	_, err := Open(Defaults())
	if core.CodeOf(err) != core.Unimplemented || !strings.Contains(err.Error(), "-tags rdma") || Built {
		t.Errorf("Open gives %v", err)
	}
	if _, err := List(); core.CodeOf(err) != core.Unimplemented {
		t.Errorf("List gives %v", err)
	}
}
