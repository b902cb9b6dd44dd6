package memory

import (
	"errors"
	"math"
	"testing"
)

// The largest request that can be counted in bytes: shapes that clients send ask for that.
const largest = math.MaxInt - 2*Alignment

// TestLargestRequestIsRefused: a sum with it overflows. It is refused as any other that is
// too large, and nothing is miscounted afterwards.
func TestLargestRequestIsRefused(t *testing.T) {
	full(t, 64<<20)
	p := NewSessionPool(0, "session one")
	held, err := p.GetFor(1, 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	defer held.Unref()
	for name, ask := range map[string]func() (*Buffer, error){
		"without a holder": func() (*Buffer, error) { return TryNew(largest) },
		"of a session":     func() (*Buffer, error) { return p.NewFor(0, largest) },
		"of a step":        func() (*Buffer, error) { return p.GetFor(1, largest) },
	} {
		var x *Exhausted
		if _, err := ask(); !errors.As(err, &x) || x.Asked != largest {
			t.Errorf("%s: %v", name, err)
		}
	}
	if used, limit := Usage(); used < 0 || used > limit {
		t.Errorf("%d of %d bytes are in use", used, limit)
	}
	if n := p.InUse(); n != 1<<20 {
		t.Errorf("the session holds %d bytes, want %d", n, 1<<20)
	}
	if _, err := TryNew(128 << 20); err == nil {
		t.Error("there is no limit any more")
	}
}

// TestLargestLimit: programs that want no limit set the largest number there is.
func TestLargestLimit(t *testing.T) {
	f := newFake(100 << 20)
	f.setLimit(math.MaxInt64)
	for range 10 {
		if err := f.several(sample); err != nil {
			t.Fatalf("small blocks: %v", err)
		}
	}
	if err := f.make(1 << 30); err != nil {
		t.Errorf("a large block: %v", err)
	}
	if err := f.take(largest); err == nil {
		t.Error("more was granted than can be addressed")
	}
}
