package xla_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/session"
	"github.com/gorge-tf/gorge/tf/tftest"
)

// scanned is what the module scanp computes: the last sum, and the tangents of those
// before.
func scanned(c, x []float32) (last, ys []float32) {
	c = append([]float32(nil), c...)
	for i := 0; i < len(x); i += len(c) {
		for k := range c {
			ys = append(ys, float32(math.Tanh(float64(c[k]))))
			c[k] = float32(c[k]*0.9) + x[i+k]
		}
	}
	return c, ys
}

// TestScansOfManyLengths: a module whose loop hangs on shapes computes the same for shapes
// that come once, that come again and so get bodies of their own, and for more of them
// than get one, in steps that run at once, too; and refuses others whatever came before.
func TestScansOfManyLengths(t *testing.T) {
	g := tf.NewGraph()
	c, x := ops.Placeholder(g, tf.Float32, nil), ops.Placeholder(g, tf.Float32, nil)
	y := call(t, g, "scanp", []tf.Output{c, x})
	if err := y.Err(); err != nil {
		t.Fatal(err)
	}
	s, err := session.New(g)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	run := func(seed uint64, steps, width int) error {
		r := rand.New(rand.NewPCG(seed, 3))
		first, rest := make([]float32, 3), make([]float32, steps*width)
		for _, v := range [][]float32{first, rest} {
			for i := range v {
				v[i] = float32(r.NormFloat64())
			}
		}
		in0, _ := tf.FromSlice(first, 3)
		in1, _ := tf.FromSlice(rest, steps, width)
		got, err := s.Run(context.Background(), session.Feeds{c: in0, x: in1}, y.Output(0), y.Output(1))
		if err != nil {
			return err
		}
		last, ys := scanned(first, rest)
		want0, _ := tf.FromSlice(last, 3)
		want1, _ := tf.FromSlice(ys, steps, 3)
		for i, w := range []*tf.Tensor{want0, want1} {
			if d := tftest.Diff(w, got[i], tftest.Within(1e-5, 1e-5)); d != "" {
				return fmt.Errorf("%d steps, result %d: %s", steps, i, d)
			}
		}
		return nil
	}
	var wg sync.WaitGroup
	for w := range 4 {
		wg.Go(func() {
			r := rand.New(rand.NewPCG(uint64(w), 5))
			for k := range 100 {
				if k%10 == 9 {
					if err := run(1, 1+r.IntN(3), 4); tf.CodeOf(err) != tf.InvalidArgument {
						t.Errorf("rows of another width: got %v", err)
					}
				}
				if err := run(r.Uint64(), 1+r.IntN(5+k/5), 3); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
}
