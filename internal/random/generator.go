package random

import (
	"crypto/rand"
	"encoding/binary"
	"sync"
)

// Generator is the state of a stateful random op: every run takes a stretch of
// one stream for itself. It is safe for concurrent use.
type Generator struct {
	mu sync.Mutex
	p  Philox
}

// NewGenerator returns the state of an op with these seed attributes. Two zeros
// ask for a stream that cannot be foreseen.
func NewGenerator(seed, seed2 int64) *Generator {
	if seed == 0 && seed2 == 0 {
		seed, seed2 = fresh(), fresh()
	}
	return &Generator{p: New(seed, seed2)}
}

// fresh returns an unpredictable seed.
func fresh() int64 {
	var b [8]byte
	_, _ = rand.Read(b[:]) // never fails: it ends the program instead
	return int64(binary.LittleEndian.Uint64(b[:]))
}

// Reserve returns the base of a run that fills n elements, and moves on past
// it.
func (g *Generator) Reserve(n int) Philox { return g.ReserveBlocks(256 * uint64(n)) }

// ReserveBlocks returns the base of a run that takes so many blocks, and moves
// on past it. [ShuffleBlocks], [MultinomialBlocks] and [SamplerBlocks] say how
// many the ops take whose outputs are not filled element by element.
func (g *Generator) ReserveBlocks(blocks uint64) Philox {
	g.mu.Lock()
	defer g.mu.Unlock()
	base := g.p
	g.p.Skip(blocks)
	return base
}
