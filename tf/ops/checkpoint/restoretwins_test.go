package checkpoint_test

import (
	"bytes"
	"context"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"testing"

	"github.com/gorge-tf/gorge/internal/bundle"
	"github.com/gorge-tf/gorge/internal/wire/record"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/ops/checkpoint"
	_ "github.com/gorge-tf/gorge/tf/ops/training"
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

// twinUpdates are operations that write to a variable of 64 rows of 32 elements; a slot is another variable, which
// was restored from the same values.
func twinUpdates(g *tf.Graph, v, slot *tf.Variable) map[string]*tf.Operation {
	vec, row, ids, one := ops.Fill([]int{64, 32}, ops.Scalar[float32](g, 1)), ops.Fill([]int{2, 32}, ops.Scalar[float32](g, 1)), ops.Const(g, []int32{3, 9}), ops.Scalar[float32](g, 0.5)
	prefix := "Resource"
	if v.IsReference() {
		prefix = ""
	}
	apply := func(name string, in ...tf.Output) *tf.Operation { return tf.Apply(g, prefix+name, in) }
	x, acc := v.Handle(), slot.Handle()
	all := map[string]*tf.Operation{
		"assign add": v.AssignAdd(vec), "assign sub": v.AssignSub(vec),
		"scatter add": apply("ScatterAdd", x, ids, row), "scatter update": apply("ScatterUpdate", x, ids, row),
		"descent": apply("ApplyGradientDescent", x, one, vec), "momentum": apply("ApplyMomentum", x, acc, one, vec, one),
		"adam":           apply("ApplyAdam", x, acc, acc, one, one, one, one, one, one, vec),
		"sparse adagrad": apply("SparseApplyAdagrad", x, acc, one, row, ids), "sparse momentum": apply("SparseApplyMomentum", x, acc, one, row, ids, one),
	}
	if !v.IsReference() {
		index := ops.Const(g, []int32{1})
		all["strided"] = tf.Apply(g, "ResourceStridedSliceAssign", []tf.Output{x, index, ops.Const(g, []int32{3}), index, row}, tf.Attr("Index", tf.Int32))
	}
	return all
}

// TestTwinsOfEveryUpdate: whatever writes to a restored variable leaves those alone that have its values.
func TestTwinsOfEveryUpdate(t *testing.T) {
	prefix := filepath.Join(t.TempDir(), "model")
	w, err := bundle.Create(prefix)
	if err != nil {
		t.Fatal(err)
	}
	names := []string{"updated", "slot", "twin"}
	x := core.NewTensor(core.Float32, core.Shape{64, 32})
	for i := range core.Data[float32](x) {
		core.Data[float32](x)[i] = float32(i%7) + 1
	}
	for _, name := range names {
		if err := w.Add(name, x); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Finish(); err != nil {
		t.Fatal(err)
	}
	for _, reference := range []bool{false, true} {
		g := tf.NewGraph()
		values := checkpoint.RestoreV2(str(g, prefix), strs(g, names...), strs(g, "", "", ""), []tf.DType{tf.Float32, tf.Float32, tf.Float32})
		var v []*tf.Variable
		var set, reads []tf.Fetchable
		for i, name := range names {
			v = append(v, tf.NewVariable(ops.Fill([]int{64, 32}, ops.Scalar[float32](g, 0)), tf.VariableOptions{Name: name, Reference: reference}))
			set, reads = append(set, v[i].Assign(values[i])), append(reads, ops.Identity(v[i].Value()))
		}
		s, err := session.New(g)
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		for name, update := range twinUpdates(g, v[0], v[1]) {
			if _, err := s.Run(t.Context(), nil, set...); err != nil {
				t.Fatal(err)
			}
			if _, err := s.Run(t.Context(), nil, update); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			got, err := s.Run(t.Context(), nil, reads...)
			if err != nil {
				t.Fatal(err)
			}
			if slices.Equal(tf.Data[float32](got[0]), core.Data[float32](x)) {
				t.Errorf("references %v, %s: the variable was not written", reference, name)
			}
			if !slices.Equal(tf.Data[float32](got[2]), core.Data[float32](x)) {
				t.Errorf("references %v, %s: the write shows in another variable", reference, name)
			}
		}
	}
}
