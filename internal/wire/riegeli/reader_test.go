package riegeli

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/gorge-tf/gorge/internal/wire/riegeli/riegelitest"
)

// signature is how every file begins, byte for byte as Riegeli's writers have it.
const signature = "83af70d10d884a3f0000000000000000400000000000000091ba" + "c23c9287e1a90000000000000000e19f13c0e9b1c37273000000000000000000000000000000"

func open(b []byte) (*Reader, error) { return Open(bytes.NewReader(b), int64(len(b))) }

func TestSignature(t *testing.T) {
	b, err := hex.DecodeString(signature)
	if err != nil {
		t.Fatal(err)
	}
	r, err := open(b)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.Last(); !errors.Is(err, ErrCorrupt) {
		t.Errorf("the last record of none: %v", err)
	}
	var f riegelitest.File
	f.Chunk(0, nil)
	if !bytes.Equal(f.Bytes()[blockHeader:64], b[blockHeader:]) {
		t.Error("the test's writer has another signature than Riegeli's")
	}
}

// TestRecords reads records of all sizes and compressions, in any order.
func TestRecords(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 20 {
		var f riegelitest.File
		var want [][]byte
		var positions []uint64
		for range 1 + random.IntN(12) {
			var records [][]byte
			for range 1 + random.IntN(5) {
				b := make([]byte, random.IntN([]int{10, 1000, 70_000, 200_000}[random.IntN(4)]))
				for i := range b {
					b[i] = byte(random.IntN(4))
				}
				records = append(records, b)
			}
			at := f.Chunk([]byte{0, 'b', 'z'}[random.IntN(3)], records...)
			for i, b := range records {
				want, positions = append(want, b), append(positions, at+uint64(i))
			}
		}
		r, err := open(f.Bytes())
		if err != nil {
			t.Fatal(err)
		}
		if last, err := r.Last(); err != nil || !bytes.Equal(last, want[len(want)-1]) {
			t.Fatalf("the last record: %d bytes, %v", len(last), err)
		}
		for _, i := range random.Perm(len(want)) {
			if got, err := r.Record(positions[i]); err != nil || !bytes.Equal(got, want[i]) {
				t.Fatalf("record %d at %d: %d bytes, %v; want %d", i, positions[i], len(got), err, len(want[i]))
			}
		}
	}
}

// TestManySmallRecords: a chunk of records without bytes is as long as it has records.
func TestManySmallRecords(t *testing.T) {
	var f riegelitest.File
	first := f.Chunk('b', make([][]byte, 70_000)...)
	second := f.Chunk(0, []byte("behind them"))
	r, err := open(f.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	for at, want := range map[uint64]string{first: "", first + 69_999: "", second: "behind them"} {
		if got, err := r.Record(at); err != nil || string(got) != want {
			t.Errorf("at %d: %q, %v", at, got, err)
		}
	}
	if _, err := r.Record(second + 1); !errors.Is(err, ErrCorrupt) {
		t.Errorf("a position behind the records: %v", err)
	}
}

func TestRefused(t *testing.T) {
	for name, c := range map[string]struct {
		want error
		make func(f *riegelitest.File)
	}{
		"transposed":    {ErrTransposed, func(f *riegelitest.File) { f.Raw('t', 1, []byte{0}, 1) }},
		"unknown":       {ErrCorrupt, func(f *riegelitest.File) { f.Raw('x', 1, []byte{0}, 1) }},
		"empty":         {ErrCorrupt, func(f *riegelitest.File) { f.Raw('r', 1, nil, 0) }},
		"compression":   {ErrCorrupt, func(f *riegelitest.File) { f.Raw('r', 1, []byte{'q', 1, 0, 0}, 0) }},
		"sizes outside": {ErrCorrupt, func(f *riegelitest.File) { f.Raw('r', 1, []byte{0, 9, 1}, 1) }},
		"huge record":   {ErrCorrupt, func(f *riegelitest.File) { f.Raw('r', 1, []byte{0, 2, 0xff, 0x7f, 1}, 1) }},
		"bytes left":    {ErrCorrupt, func(f *riegelitest.File) { f.Raw('r', 1, []byte{0, 1, 1, 1, 2}, 2) }},
		"huge decoded":  {ErrCorrupt, func(f *riegelitest.File) { f.Raw('r', 1, []byte{'b', 1, 0xff, 0xff}, 1<<60) }},
		"expanding": {ErrCorrupt, func(f *riegelitest.File) {
			f.Raw('r', 1, append([]byte{'b', 1, 1}, 0xff, 0xff, 0xff, 0xff, 0x7f, 6), 1<<34)
		}},
	} {
		var f riegelitest.File
		f.Chunk(0, []byte("first"))
		c.make(&f)
		r, err := open(f.Bytes())
		if err == nil {
			_, err = r.Last()
		}
		if !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
	}
}

// TestDamage: what is cut off or flipped anywhere is found, but in block headers,
// which nothing reads.
func TestDamage(t *testing.T) {
	var f riegelitest.File
	f.Chunk('b', []byte("one"), []byte("two"))
	f.Chunk(0, []byte("three"))
	whole := f.Bytes()
	all := func(b []byte) (out []string, err error) {
		r, err := open(b)
		if err != nil {
			return nil, err
		}
		for i := range r.chunks {
			for j := range r.chunks[i].records {
				b, err := r.record(i, j)
				if err != nil {
					return nil, err
				}
				out = append(out, string(b))
			}
		}
		return out, nil
	}
	want, err := all(whole)
	if err != nil {
		t.Fatal(err)
	}
	for i := blockHeader; i < len(whole); i++ {
		b := bytes.Clone(whole)
		b[i] ^= 0x10
		if _, err := all(b); !errors.Is(err, ErrCorrupt) {
			t.Errorf("byte %d flipped: %v", i, err)
		}
		if got, err := all(whole[:i]); err == nil && fmt.Sprint(got) == fmt.Sprint(want) {
			t.Errorf("cut at %d, nothing is missing", i)
		}
	}
}

func FuzzReader(f *testing.F) {
	var file riegelitest.File
	file.Chunk('b', []byte("one"), []byte("two"))
	file.Chunk('z', []byte("three"))
	f.Add(file.Bytes())
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, b []byte) {
		r, err := open(b)
		if err != nil {
			return
		}
		r.Last()
		for _, c := range r.chunks {
			r.decode(&c) // as if the hash of the header were right
		}
		decompress('b', b)
		decompress('z', b)
		decompress('s', b)
	})
}
