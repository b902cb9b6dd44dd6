package ops_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gorge-tf/gorge/internal/kernel/kerneltest"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/eager"
	"github.com/gorge-tf/gorge/tf/ops"
)

// mirrorTwin calls f with each element of the padded tensor and what it is the image of.
func mirrorTwin(s, pads []int, offset int, f func(padded, plain int)) {
	full, n := make([]int, len(s)), len(s)
	for i := range s {
		full[i] = pads[2*i] + s[i] + pads[2*i+1]
	}
	kerneltest.EachIndex(full, func(padded int, index []int) {
		plain := 0
		for i := range n {
			k := index[i] - pads[2*i]
			if k < 0 {
				k = offset - 1 - k
			} else if k >= s[i] {
				k = 2*s[i] - 1 - offset - k
			}
			plain = plain*s[i] + k
		}
		f(padded, plain)
	})
}

// TestMirrorRows compares paddings of random shapes with what they are by definition.
func TestMirrorRows(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 12))
	g := eager.New()
	for range 300 {
		offset := r.IntN(2)
		rank := 1 + r.IntN(5)
		s, full, pads := make(tf.Shape, rank), make(tf.Shape, rank), make([]int, 2*rank)
		for i := range s {
			s[i] = 1 + r.IntN([]int{3, 4, 200}[min(2, r.IntN(12)/5)])
			for k := range 2 {
				pads[2*i+k] = r.IntN(2) * r.IntN(s[i]-offset+1)
			}
			full[i] = pads[2*i] + s[i] + pads[2*i+1]
		}
		if full.NumElements() > 1<<16 {
			continue
		}
		padded, sums := make([]float32, full.NumElements()), make([]float32, s.NumElements())
		mirrorTwin(s, pads, offset, func(p, q int) {
			padded[p] = float32(q)
			sums[q] += float32(p % 4)
		})
		checkMirror(t, g, s, full, pads, []string{ops.Symmetric, ops.Reflect}[offset], padded, sums)
	}
}

// checkMirror pads and takes back floats of 32 bits and of 16.
func checkMirror(t *testing.T, g *tf.Graph, s, full tf.Shape, pads []int, mode string, padded, sums []float32) {
	t.Helper()
	p := make([]int32, len(pads))
	for i, v := range pads {
		p[i] = int32(v)
	}
	x, dy := make([]float32, len(sums)), make([]float32, len(padded))
	for i := range x {
		x[i] = float32(i)
	}
	for i := range dy {
		dy[i] = float32(i % 4)
	}
	by := ops.Const(g, p, len(s), 2)
	got := func(o tf.Output) []float32 {
		v, err := o.Value()
		if err != nil {
			t.Fatal(err)
		}
		w, err := tf.Values[float32](v)
		if err != nil {
			t.Fatal(err)
		}
		return w
	}
	out := ops.Const(g, dy, full...)
	if v := got(ops.MirrorPad(ops.Const(g, x, s...), by, mode)); !slices.Equal(v, padded) {
		t.Fatalf("%v by %v, %s: %v, want %v", s, pads, mode, v, padded)
	}
	if v := got(ops.MirrorPadGrad(out, by, mode)); !slices.Equal(v, sums) {
		t.Fatalf("gradient of %v by %v, %s: %v, want %v", s, pads, mode, v, sums)
	}
	if v := got(ops.Cast(ops.MirrorPadGrad(ops.Cast(out, tf.Float16), by, mode), tf.Float32)); !slices.Equal(v, sums) {
		t.Fatalf("gradient of %v by %v, %s, in 16 bits: %v, want %v", s, pads, mode, v, sums)
	}
}
