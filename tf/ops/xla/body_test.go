package xla

import (
	"runtime"
	"testing"
)

// TestBodiesAreShared: nodes of one module have one body as long as something uses it,
// and then the table lets go of it.
func TestBodiesAreShared(t *testing.T) {
	n := callNodes(t)[0]
	b := must(body(n, free))
	if again := must(body(n, free)); again != b {
		t.Error("a body in use must be shared")
	}
	key := must(keyOf(n))
	runtime.KeepAlive(b)
	b = nil
	for i := 0; kept(key) != nil; i++ {
		if i == 100 {
			t.Fatal("a body that nothing uses must be let go of")
		}
		runtime.GC()
	}
	must(body(callNodes(t)[1], free))
	bodies.Lock()
	defer bodies.Unlock()
	if _, ok := bodies.of[key]; ok {
		t.Error("the table must not keep the keys of what is gone")
	}
}
