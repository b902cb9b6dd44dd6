package verbs

import (
	"errors"
	"testing"

	"github.com/gorge-tf/gorge/internal/memory"
)

// TestCacheOfRegistrations: memory is registered when it is sent from again, or is
// large; kept up to the limit; and never while it is not the collector's.
func TestCacheOfRegistrations(t *testing.T) {
	dev := newFakeDevice() // copies below 32 bytes
	dev.copyBelow = 10_000
	c := newMRCache(dev, 30_000)
	small, large := memory.New(5000), memory.New(20_000)
	if c.get(small) != nil {
		t.Error("small memory is registered the first time it is sent from")
	}
	e, again := c.get(small), c.get(small)
	if e == nil || again != e || dev.regions != 1 {
		t.Fatalf("memory that is sent from again has %d registrations, want one", dev.regions)
	}
	if c.get(memory.New(100)) != nil || c.get(memory.New(40_000)) != nil {
		t.Error("memory is registered that is tiny, or larger than the cache")
	}
	foreign := memory.Adopt(make([]byte, 20_000), func() {})
	if c.get(foreign) != nil || c.get(memory.Wrap(make([]byte, 20_000), nil)) != nil {
		t.Error("memory is kept registered that its owner may unmap")
	}
	if l := c.get(large); l == nil {
		t.Error("large memory is not registered at once")
	} else {
		c.put(l)
	}
	other := c.get(memory.New(12_000)) // in place of large, small is in use
	if other == nil || dev.regions != 2 {
		t.Errorf("there are %d registrations, want the one in use and the last one", dev.regions)
	}
	if c.get(memory.New(20_000)) != nil {
		t.Error("memory is registered beyond the limit, while all that is there is in use")
	}
	c.put(e)
	c.put(again)
	c.put(other)
	if err := c.close(); err != nil || dev.regions != 0 {
		t.Errorf("%d registrations are left, %v", dev.regions, err)
	}
}

// TestCacheGrown: a block that is sent from in greater length is registered anew,
// and the old registration ends with its last user.
func TestCacheGrown(t *testing.T) {
	dev := newFakeDevice()
	c := newMRCache(dev, 1<<20)
	whole := memory.New(8192)
	part := whole.Sub(0, 4096)
	short := c.get(part)
	long := c.get(whole)
	if short == nil || long == nil || short == long || dev.regions != 2 {
		t.Fatalf("a block in two lengths has %d registrations, want two while both are in use", dev.regions)
	}
	c.put(short)
	if dev.regions != 1 {
		t.Errorf("%d registrations, want the longer one", dev.regions)
	}
	if e := c.get(part); e != long {
		t.Error("the longer registration is not used for the beginning")
	} else {
		c.put(e)
	}
	c.put(long)
	if err := errors.Join(c.close()); err != nil || dev.regions != 0 {
		t.Errorf("%d registrations are left, %v", dev.regions, err)
	}
}
