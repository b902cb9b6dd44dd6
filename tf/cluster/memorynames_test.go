package cluster_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/ops"
)

// TestHoldersOfMemory: reports of memory name the sessions that clients have opened,
// and the one that serves masters without sessions.
func TestHoldersOfMemory(t *testing.T) {
	server := start(t, map[string]int{"worker": 1}).servers["worker:0"]
	before := server.Status().Memory
	g := tf.NewGraph()
	x := ops.Scalar[float32](g, 1)
	if _, err := open(t, g, server.Target()).Run(t.Context(), nil, x); err != nil {
		t.Fatal(err)
	}
	holders := server.Status().Memory
	if _, ok := holders["default session"]; !ok {
		t.Errorf("the session of masters without sessions must be a holder, got %v", holders)
	}
	maps.DeleteFunc(holders, func(name string, _ int64) bool { _, ok := before[name]; return ok })
	names := slices.Collect(maps.Keys(holders))
	if len(names) != 1 || !strings.HasPrefix(names[0], "session ") || len(names[0]) != len("session ")+16 {
		t.Errorf("a client's session must be a holder by its handle, got %q", names)
	}
}
