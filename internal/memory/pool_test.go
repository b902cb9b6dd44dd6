package memory

import (
	"bytes"
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/gorge-tf/gorge/internal/invariants"
)

func TestSizeClassesHoldTheirSizes(t *testing.T) {
	check := func(n int) {
		i := classIndex(n)
		if i >= numClasses {
			t.Fatalf("no class for %d bytes", n)
		}
		if size := classSize(i); size < n {
			t.Fatalf("class %d of %d bytes cannot hold %d", i, size, n)
		} else if size%Alignment == 0 && size > spanLen(n)+spanLen(n)/4 {
			t.Fatalf("%d bytes get a block of %d: more than a quarter is waste", n, size)
		} else if n > 1<<fineShift && size > n+n/fineSteps {
			t.Fatalf("%d bytes get a block of %d: more than a 16th is waste", n, size)
		}
	}
	for n := range 1 << 14 {
		check(n)
	}
	for shift := minShift; shift <= maxShift; shift++ {
		for _, d := range []int{-65, -64, -1, 0} {
			check(1<<shift + d)
		}
	}
	for shift := fineShift - 1; shift < maxShift; shift++ {
		for part := range 32 {
			for _, d := range []int{-65, -64, -1, 0, 1, 64} {
				check(1<<shift + part<<(shift-5) + d)
			}
		}
	}
	if i := classIndex(1<<maxShift + 1); i < numClasses {
		t.Fatalf("class %d holds more than the largest class", i)
	}
}

func TestSizeClassesGrow(t *testing.T) {
	for i := 1; i < numClasses; i++ {
		if classSize(i) <= classSize(i-1) {
			t.Fatalf("class %d has %d bytes, class %d before it %d", i, classSize(i), i-1, classSize(i-1))
		}
	}
}

func TestPoolReuses(t *testing.T) {
	if invariants.Race {
		t.Skip("under the race detector pools allocate afresh")
	}
	p := NewPool(1 << 20)
	a := p.Get(1000)
	at := start(a)
	a.Unref()
	b := p.Get(1010) // the same class
	if start(b) != at {
		t.Fatal("released memory was not handed out again")
	}
	if b.Len() != 1010 || !b.Sole() {
		t.Fatalf("Len %d, Sole %v after reuse", b.Len(), b.Sole())
	}
	if s := p.Stats(); s != (PoolStats{Misses: 1}) {
		t.Fatalf("stats %+v, want one miss and nothing idle", s)
	}
}

// TestPoolReusesForOtherSizes: large tensors whose sizes vary a little share a block, but
// none gets one of which more than a quarter is wasted.
func TestPoolReusesForOtherSizes(t *testing.T) {
	if invariants.Race {
		t.Skip("under the race detector pools allocate afresh")
	}
	const mib = 1 << 20
	p := NewPool(64 * mib)
	p.Get(5 * mib).Unref()
	for n := 4*mib + 256<<10 + 1; n <= 5*mib; n += 100_000 {
		b := p.Get(n)
		if b.Len() != n {
			t.Fatalf("asked for %d bytes, got %d", n, b.Len())
		}
		b.Unref()
	}
	if s := p.Stats(); s.Misses != 1 || s.IdleBytes != 5*mib {
		t.Fatalf("%+v, want one block of 5 MiB", s)
	}
	for _, n := range []int{4 * mib, 5*mib + 1, mib/2 + 1} {
		p.Get(n).Unref()
	}
	if s := p.Stats(); s.Misses != 4 || s.Idle != 4 {
		t.Fatalf("%+v, want three blocks more", s)
	}
}

func TestPoolNeverReusesEscaped(t *testing.T) {
	p := NewPool(1 << 20)
	b := p.Get(100)
	b.Escape()
	b.Unref()
	if s := p.Stats(); s.Idle != 0 || s.IdleBytes != 0 {
		t.Fatalf("an escaped buffer is idle in the pool: %+v", s)
	}
}

func TestPoolBoundsIdleBytes(t *testing.T) {
	if invariants.Race {
		t.Skip("under the race detector pools keep nothing")
	}
	p := NewPool(3 * 1024)
	var held []*Buffer
	for range 5 {
		held = append(held, p.Get(1024))
	}
	for _, b := range held {
		b.Unref()
	}
	if s := p.Stats(); s.Idle != 3 || s.IdleBytes != 3*1024 {
		t.Fatalf("%d buffers, %d bytes idle; the limit allows 3 of 1024", s.Idle, s.IdleBytes)
	}
	p.Trim()
	if s := p.Stats(); s.Idle != 0 || s.IdleBytes != 0 {
		t.Fatalf("%+v left after Trim", s)
	}
}

func TestPoolOfHugeBuffersIsPlainMemory(t *testing.T) {
	p := NewPool(0)
	b := p.Get(0)
	if b.Len() != 0 || len(b.Bytes()) != 0 {
		t.Fatalf("Get(0) has %d bytes", b.Len())
	}
	b.Unref()
	if s := p.Stats(); s.Idle != 0 {
		t.Fatal("a pool with limit 0 keeps memory")
	}
}

func TestReleasedPoolMemoryIsPoisoned(t *testing.T) {
	if !invariants.Enabled {
		t.Skip("only with the tag invariants or under the race detector")
	}
	p := NewPool(1 << 20)
	b := p.Get(200)
	mem := b.Bytes()
	if want := bytes.Repeat([]byte{0xDB}, 200); !bytes.Equal(mem, want) {
		t.Fatal("fresh pool memory can be taken for zeroed")
	}
	clear(mem)
	b.Unref()
	if want := bytes.Repeat([]byte{0xDB}, 200); !bytes.Equal(mem, want) {
		t.Fatal("released memory still shows its old contents")
	}
}

func TestPoolSteadyStateAllocatesNothing(t *testing.T) {
	if invariants.Enabled {
		t.Skip("with assertions on headers are not recycled")
	}
	p := NewPool(1 << 20)
	if n := testing.AllocsPerRun(1000, func() { p.Get(5000).Unref() }); n != 0 {
		t.Fatalf("Get and Unref allocate %v times", n)
	}
}

// TestPoolGivesMemoryToOneAtATime lets goroutines stamp what they get; memory
// that two of them hold at once shows a stranger's stamp.
func TestPoolGivesMemoryToOneAtATime(t *testing.T) {
	p := NewPool(1 << 16)
	var wg sync.WaitGroup
	for id := range 8 {
		wg.Go(func() { stampBuffers(t, p, byte(id)) })
	}
	wg.Wait()
	p.Trim()
	if s := p.Stats(); s.IdleBytes != 0 {
		t.Fatalf("%d idle bytes counted in an empty pool", s.IdleBytes)
	}
}

func stampBuffers(t *testing.T, p *Pool, id byte) {
	rng := rand.New(rand.NewPCG(uint64(id), 1))
	for range 500 {
		b := p.Get(rng.IntN(2000))
		mem := b.Bytes()
		for i := range mem {
			mem[i] = id
		}
		if rng.IntN(20) == 0 {
			p.Trim()
		}
		if bytes.Count(mem, []byte{id}) != len(mem) {
			t.Errorf("goroutine %d sees another's bytes in its buffer", id)
		}
		b.Unref()
	}
}

func BenchmarkPoolGetUnref(b *testing.B) {
	p := NewPool(1 << 20)
	for b.Loop() {
		p.Get(4096).Unref()
	}
}
