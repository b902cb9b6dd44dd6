package memory

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"github.com/gorge-tf/gorge/internal/invariants"
)

// TestThriftyPool: a thrifty pool gives idle blocks of up to 5/2 of the class of a request, the
// smallest first, and such blocks are pieces of more where less than half of them is used.
func TestThriftyPool(t *testing.T) {
	if invariants.Race {
		t.Skip("under the race detector pools allocate afresh")
	}
	const mib = 1 << 20
	p := NewPool(64 * mib)
	p.Get(5 * mib).Unref()
	p.Get(3 * mib).Unref()
	p.Save()
	small := p.Get(2 * mib) // of 3 MiB
	large := p.Get(2*mib + 1)
	if s := p.Stats(); s.Misses != 2 || s.Idle != 0 {
		t.Fatalf("%+v, want both blocks in use and no more", s)
	}
	if small.IsPiece() || !large.IsPiece() {
		t.Errorf("IsPiece %v of two thirds of a block and %v of two fifths, want false and true", small.IsPiece(), large.IsPiece())
	}
	large.Unref()
	for _, n := range []int{2*mib - 200_000, 64 << 10, 1} { // too small for 5 MiB
		b := p.Get(n)
		if b.IsPiece() {
			t.Errorf("%d bytes are a piece of more", n)
		}
	}
	if s := p.Stats(); s.Misses != 5 || s.IdleBytes != 5*mib {
		t.Errorf("%+v, want three blocks more", s)
	}
}

// TestThriftyPoolSaves: layers whose outputs get smaller, each of which is there until the next one is computed,
// take fewer blocks than there are sizes.
func TestThriftyPoolSaves(t *testing.T) {
	if invariants.Race {
		t.Skip("under the race detector pools allocate afresh")
	}
	took := func(save bool) int64 {
		p := NewPool(1 << 30)
		if save {
			p.Save()
		}
		for range 3 {
			x := p.Get(4 << 20)
			for n := 4 << 20; n > 128<<10; n = n * 2 / 3 {
				y := p.Get(n)
				x.Unref()
				x = y
			}
			x.Unref()
		}
		return p.Stats().IdleBytes
	}
	if plain, thrifty := took(false), took(true); thrifty >= plain*4/5 {
		t.Errorf("a thrifty pool took %d bytes, another %d: want a fifth less", thrifty, plain)
	}
}

// TestThriftyPoolAtRandom: no two tensors of a thrifty pool share bytes.
func TestThriftyPoolAtRandom(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	p := NewPool(1 << 30)
	p.Save()
	var held []*Buffer
	for range 1000 {
		if len(held) > 0 && r.IntN(len(held)+4) > 3 {
			i := r.IntN(len(held))
			b := held[i].Bytes()
			if n := bytes.Count(b, b[:1]); n != len(b) {
				t.Fatalf("%d of %d bytes were written by others", len(b)-n, len(b))
			}
			held[i].Unref()
			held = append(held[:i], held[i+1:]...)
			continue
		}
		b := p.Get(1<<(12+r.IntN(8)) + r.IntN(4096))
		copy(b.Bytes(), bytes.Repeat([]byte{byte(r.Uint32())}, b.Len()))
		held = append(held, b)
	}
}
