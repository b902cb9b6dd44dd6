package checkpoint_test

import (
	"bytes"
	"context"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/gorge-tf/gorge/internal/bundle"
	"github.com/gorge-tf/gorge/internal/wire/record"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/ops/checkpoint"
	"github.com/gorge-tf/gorge/tf/session"
)

// collision returns other bytes of the same CRC32C: what is changed is the polynomial, of
// which every multiple has the checksum 0.
func collision(b []byte, bit int) []byte {
	const polynomial = 0x11EDC6F41
	out := bytes.Clone(b)
	for i := range 33 {
		if polynomial>>(32-i)&1 == 1 {
			out[(bit+i)/8] ^= 1 << ((bit + i) % 8)
		}
	}
	return out
}

// saved writes tensors of bytes and returns the prefix and the names.
func saved(t *testing.T, values ...[]byte) (prefix string, names []string) {
	t.Helper()
	prefix = filepath.Join(t.TempDir(), "model")
	w, err := bundle.Create(prefix)
	if err != nil {
		t.Fatal(err)
	}
	for i, v := range values {
		x := core.NewTensor(core.Uint8, core.Shape{len(v)})
		copy(core.Data[uint8](x), v)
		names = append(names, string(rune('a'+i)))
		if err := w.Add(names[i], x); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Finish(); err != nil {
		t.Fatal(err)
	}
	return prefix, names
}

// restored makes variables of what a checkpoint has, sets them, and returns how to read
// them and a step that doubles one.
func restored(t *testing.T, prefix string, names []string) (read func() [][]byte, double func(i int), err error) {
	t.Helper()
	g := tf.NewGraph()
	types := make([]tf.DType, len(names))
	for i := range types {
		types[i] = tf.Uint8
	}
	values := checkpoint.RestoreV2(str(g, prefix), strs(g, names...), strs(g, make([]string, len(names))...), types)
	var set []tf.Fetchable
	var reads []tf.Fetchable
	var doubles []tf.Fetchable
	for i, v := range values {
		h := ops.VarHandleOp(g, tf.Uint8, tf.Shape{-1}, ops.VarHandleOpts{SharedName: names[i]})
		set = append(set, ops.AssignVariableOp(h, v))
		x := ops.ReadVariableOp(h, tf.Uint8)
		reads = append(reads, x)
		doubles = append(doubles, ops.AssignAddVariableOp(h, x))
	}
	s, err := session.New(g)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	ctx := context.Background()
	if _, err := s.Run(ctx, nil, set...); err != nil {
		return nil, nil, err
	}
	read = func() (out [][]byte) {
		got, err := s.Run(ctx, nil, reads...)
		if err != nil {
			t.Fatal(err)
		}
		for _, x := range got {
			out = append(out, core.Data[uint8]((*core.Tensor)(x)))
		}
		return out
	}
	return read, func(i int) {
		if _, err := s.Run(ctx, nil, doubles[i]); err != nil {
			t.Fatal(err)
		}
	}, nil
}

// TestTwinsAreApart: values that are the same, or only seem so by their checksums, are
// restored as they were saved, and a write to one variable leaves the others.
func TestTwinsAreApart(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	a := make([]byte, 200<<10)
	for i := range a {
		a[i] = byte(rng.Uint32())
	}
	other := collision(a, 8*len(a)-40)
	if record.ExtendCRC(0, a) != record.ExtendCRC(0, other) || bytes.Equal(a, other) {
		t.Fatal("the test needs different values of one checksum")
	}
	want := [][]byte{a, other, a, a[:100], a[:100], a, other}
	prefix, names := saved(t, want...)
	read, double, err := restored(t, prefix, names)
	if err != nil {
		t.Fatal(err)
	}
	check := func(when string) {
		t.Helper()
		for i, got := range read() {
			if !bytes.Equal(got, want[i]) {
				t.Fatalf("variable %s is not what it must be %s", names[i], when)
			}
		}
	}
	check("after it was restored")
	for _, i := range []int{2, 0, 6} {
		double(i)
		want[i] = bytes.Clone(want[i])
		for k := range want[i] {
			want[i][k] *= 2
		}
		check("after a write of " + names[i])
	}
}

// TestTwinsShareMemory: the values of twins are in memory once.
func TestTwinsShareMemory(t *testing.T) {
	a := bytes.Repeat([]byte("gorge"), 1<<20)
	prefix, names := saved(t, a, a, a, a)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	if _, _, err := restored(t, prefix, names); err != nil {
		t.Fatal(err)
	}
	runtime.ReadMemStats(&after)
	if n := after.TotalAlloc - before.TotalAlloc; n >= uint64(2*len(a)) {
		t.Errorf("four variables of the same %d bytes take %d", len(a), n)
	}
}

// TestDamagedTwin: damage in a value is found although an equal one is whole.
func TestDamagedTwin(t *testing.T) {
	a := bytes.Repeat([]byte("gorge"), 10<<10)
	prefix, names := saved(t, a, a)
	data := prefix + ".data-00000-of-00001"
	b, err := os.ReadFile(data)
	if err != nil {
		t.Fatal(err)
	}
	for _, at := range []int{10, len(a) + 10, 2*len(a) - 1} {
		damaged := bytes.Clone(b)
		damaged[at] ^= 4
		if err := os.WriteFile(data, damaged, 0o600); err != nil {
			t.Fatal(err)
		}
		if _, _, err := restored(t, prefix, names); tf.CodeOf(err) != tf.DataLoss {
			t.Errorf("a byte that is damaged at %d: %v", at, err)
		}
	}
}
