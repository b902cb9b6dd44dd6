package stablehlo

import (
	"bytes"
	"errors"
	"math/rand"
	"runtime"
	"testing"
)

// FuzzRead: whatever comes, Read gives an error or a module whose parts fit together,
// and takes no more memory than the size of the data gives reason for.
func FuzzRead(f *testing.F) {
	for _, name := range artifacts(f) {
		f.Add(load(f, name))
	}
	for _, v := range handmade() {
		f.Add(v)
	}
	f.Fuzz(func(t *testing.T, data []byte) { hostile(t, data) })
}

// FuzzPatches: the same for artifacts of which some bytes were replaced, which keeps
// most of what they consist of in place.
func FuzzPatches(f *testing.F) {
	var seeds [][]byte
	for _, name := range artifacts(f) {
		if data := load(f, name); len(data) < 4000 {
			seeds = append(seeds, data)
		}
	}
	for v := range uint64(newestVersion + 1) {
		seeds = append(seeds, newBuild(v).artifact())
	}
	for i := range seeds {
		f.Add(byte(i), []byte{0, 40, 3, 1, 0, 7})
	}
	f.Fuzz(func(t *testing.T, which byte, patches []byte) {
		data := bytes.Clone(seeds[int(which)%len(seeds)])
		for ; len(patches) >= 3; patches = patches[3:] {
			data[(int(patches[0])<<8|int(patches[1]))%len(data)] = patches[2]
		}
		hostile(t, data)
	})
}

func hostile(t *testing.T, data []byte) {
	t.Helper()
	m, err := Read(data)
	if err != nil {
		if !errors.Is(err, ErrCorrupt) && !errors.Is(err, ErrUnsupported) {
			t.Fatalf("an error without a cause: %v", err)
		}
		return
	}
	_ = m.String()
	for _, f := range m.Funcs {
		if f.Body != nil {
			sound(t, f.Body, map[*Value]bool{})
		}
	}
}

// sound demands what the types of this package promise of a block: values come before
// their uses, and one operation ends it.
func sound(t *testing.T, b *Block, known map[*Value]bool) {
	t.Helper()
	var mine []*Value
	learn := func(vs []*Value) {
		for _, v := range vs {
			known[v] = true
		}
		mine = append(mine, vs...)
	}
	learn(b.Args)
	for i, op := range b.Ops {
		for _, v := range op.Operands {
			if !known[v] {
				t.Fatalf("%v uses a value that is not defined", op)
			}
		}
		for _, r := range op.Regions {
			sound(t, r, known)
		}
		learn(op.Results)
		if (op.Name == "return") != (i == len(b.Ops)-1) {
			t.Fatalf("%v is operation %d of %d", op, i, len(b.Ops))
		}
	}
	for _, v := range mine {
		delete(known, v)
	}
}

// TestDamage: artifacts that end early or have other bytes are errors or sound modules.
func TestDamage(t *testing.T) {
	rng := rand.New(rand.NewSource(1))
	for _, name := range artifacts(t) {
		data := load(t, name)
		step := max(len(data)/400, 1)
		for n := 0; n < len(data); n += step {
			if _, err := Read(data[:n]); err == nil {
				t.Errorf("%s: its first %d bytes are read as a module", name, n)
			}
		}
		for range 1000 {
			bad := bytes.Clone(data)
			for range 1 + rng.Intn(3) {
				bad[rng.Intn(len(bad))] ^= byte(1 << rng.Intn(8))
			}
			hostile(t, bad)
		}
	}
}

// TestMemory: what Read allocates for damaged artifacts is in proportion to their size.
func TestMemory(t *testing.T) {
	rng := rand.New(rand.NewSource(2))
	data := load(t, "testdata/loops.bc")
	var before, after runtime.MemStats
	for range 2000 {
		bad := bytes.Clone(data)
		at := rng.Intn(len(bad) - 8)
		rng.Read(bad[at : at+1+rng.Intn(8)])
		runtime.ReadMemStats(&before)
		_, _ = Read(bad)
		runtime.ReadMemStats(&after)
		if got := after.TotalAlloc - before.TotalAlloc; got > 512*uint64(len(bad)) {
			t.Fatalf("an artifact of %d bytes took %d bytes", len(bad), got)
		}
	}
}
