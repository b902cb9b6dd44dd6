package savedmodel

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/session"
)

// TestChoicesOfOutputs asks for outputs in many orders and combinations: each call gets
// what it asks for, and the signature does not keep a step for each.
func TestChoicesOfOutputs(t *testing.T) {
	for _, pure := range []bool{true, false} {
		t.Run(fmt.Sprint("pure=", pure), func(t *testing.T) { choicesOfOutputs(t, pure) })
	}
}

func choicesOfOutputs(t *testing.T, pure bool) {
	const outputs = 9
	g := tf.NewGraph()
	x := ops.Placeholder(g, tf.Float32, tf.Shape{}, tf.Name("x"))
	fed, all := x, map[string]tf.Output{}
	if !pure {
		x = ops.Add(x, ops.Mul(ops.RandomUniform(g, []int{}, tf.Float32), ops.Scalar(g, float32(0))))
	}
	for i := range outputs {
		all[fmt.Sprint(i)] = ops.Add(x, ops.Scalar(g, float32(i)))
	}
	s, err := session.New(g)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	dir := t.TempDir() + "/model"
	if err := SimpleSave(t.Context(), s, dir, map[string]tf.Output{"x": fed}, all); err != nil {
		t.Fatal(err)
	}
	m, err := Load(t.Context(), dir, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	sig, r := m.Signature(DefaultSignature), rand.New(rand.NewPCG(1, 2))
	for range 300 {
		var want []string
		for _, i := range r.Perm(outputs)[:1+r.IntN(outputs)] {
			want = append(want, fmt.Sprint(i))
		}
		out, err := sig.Run(t.Context(), map[string]any{"x": float32(1)}, want...)
		if err != nil || len(out) != len(want) {
			t.Fatalf("%q: %v, %v", want, out, err)
		}
		for _, k := range want {
			if got := tf.Data[float32](out[k])[0]; fmt.Sprint(got-1) != k {
				t.Errorf("%q: output %s is %v", want, k, got)
			}
		}
	}
	if sig.pure != pure {
		t.Errorf("the signature is pure: %v", sig.pure)
	}
	if n := len(sig.calls); n > maxCalls+1 {
		t.Errorf("the signature keeps %d steps", n)
	}
}
