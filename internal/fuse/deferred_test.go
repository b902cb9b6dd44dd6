package fuse_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/session"
)

// summing is a loop that adds products of what its iterations make of x and y to z.
type summing struct {
	*rand.Rand
	g       *tf.Graph
	x, y    tf.Output
	o       ops.MatMulOpts
	visible bool // an iteration reads the sum
}

func (s *summing) loop(z tf.Output, times int32, inner bool) tf.Output {
	end := tf.While([]tf.Output{ops.Scalar(s.g, int32(0)), z, s.x}, below(s.g, times), func(v []tf.Output) []tf.Output {
		by := ops.Cast(v[0], z.DType())
		a, b := ops.Mul(v[2], ops.Cos(by)), ops.AddV2(s.y, by)
		var sum tf.Output
		switch {
		case inner: // the sum of one loop is where another begins
			sum = s.loop(v[1], 3, false)
		case s.IntN(2) == 0:
			sum = ops.AddV2(ops.MatMul(a, b, s.o), v[1])
		default:
			sum = ops.AddV2(v[1], ops.MatMul(a, b, s.o))
		}
		next := a
		if s.visible {
			next = ops.AddV2(a, ops.Sum(v[1], []int{0, 1}))
		}
		return []tf.Output{ops.AddV2(v[0], ops.Scalar(s.g, int32(1))), sum, next}
	})
	return end[1]
}

// TestDeferredSums: products that loops add up have the bits of one addition after the
// other, however many iterations there are, whatever is added to and whoever reads it.
func TestDeferredSums(t *testing.T) {
	for seed := range uint64(60) {
		r := rand.New(rand.NewPCG(seed, 21))
		size := func() int { return []int{1, 2, 16, 33, 96}[r.IntN(5)] }
		m, n, k := size(), size(), []int{1, 7, 32, 257, 1030}[r.IntN(5)]
		d := []tf.DType{tf.Float32, tf.Float64}[r.IntN(2)]
		s := &summing{Rand: r, g: tf.NewGraph(), o: ops.MatMulOpts{TransposeA: r.IntN(2) == 0, TransposeB: r.IntN(2) == 0}, visible: r.IntN(6) == 0}
		a, b, c := tf.Shape{m, k}, tf.Shape{k, n}, tf.Shape{m, n}
		if s.o.TransposeA {
			a = tf.Shape{k, m}
		}
		if s.o.TransposeB {
			b = tf.Shape{n, k}
		}
		if r.IntN(8) == 0 {
			c = tf.Shape{m, 1} // grows, or is none
		}
		feeds := session.Feeds{}
		feed := func(s *summing, v tf.Shape) tf.Output {
			x := ops.Placeholder(s.g, d, tf.Shape{-1, -1})
			feeds[x] = normal(r, d, v)
			return x
		}
		s.x, s.y = feed(s, a), feed(s, b)
		z := feed(s, c)
		times := []int32{0, 1, 5, 16, 17, 40}[r.IntN(6)]
		sum := s.loop(z, times, r.IntN(4) == 0)
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			if err := s.g.Err(); err != nil {
				t.Fatal(err)
			}
			compare(t, s.g, feeds, []tf.Fetchable{sum, ops.Sum(sum, []int{0}), ops.Identity(z)})
		})
	}
}

// TestWhichSumsAreDeferred: that which only its loop's end reads.
func TestWhichSumsAreDeferred(t *testing.T) {
	for _, visible := range []bool{false, true} {
		r := rand.New(rand.NewPCG(1, 1))
		s := &summing{Rand: r, g: tf.NewGraph(), visible: visible}
		s.x, s.y = ops.Placeholder(s.g, tf.Float32, tf.Shape{4, 4}), ops.Placeholder(s.g, tf.Float32, tf.Shape{4, 4})
		feeds := session.Feeds{s.x: normal(r, tf.Float32, tf.Shape{4, 4}), s.y: normal(r, tf.Float32, tf.Shape{4, 4})}
		text := explain(t, s.g, feeds, s.loop(s.x, 20, false))
		if got := strings.Contains(text, " = Exit"); got == visible {
			t.Errorf("an iteration reads the sum: %v; deferred: %v\n%s", visible, got, text)
		}
	}
}

// TestDeferredSumsFail: a step that fails within the loop ends with its error, and the
// next one begins anew.
func TestDeferredSumsFail(t *testing.T) {
	g := tf.NewGraph()
	x, last := ops.Placeholder(g, tf.Float32, tf.Shape{8, 8}), ops.Placeholder(g, tf.Int32, tf.Shape{})
	end := tf.While([]tf.Output{ops.Scalar(g, int32(0)), ops.ZerosLike(x)}, below(g, 20), func(v []tf.Output) []tf.Output {
		check := ops.Assert(ops.Less(v[0], last), []tf.Output{v[0]})
		var y tf.Output
		g.ControlDependencies([]*tf.Operation{check}, func() { y = ops.Identity(x) })
		return []tf.Output{ops.AddV2(v[0], ops.Scalar(g, int32(1))), ops.AddV2(v[1], ops.MatMul(y, x))}
	})
	plain, fused := open(t, g)
	feeds := session.Feeds{x: normal(rand.New(rand.NewPCG(1, 2)), tf.Float32, tf.Shape{8, 8})}
	for _, s := range fused {
		for _, n := range []int32{11, 20, 3, 20} {
			feeds[last] = (*tf.Tensor)(core.Scalar(n))
			want, wantErr := plain.Run(context.Background(), feeds, end[1])
			got, err := s.Run(context.Background(), feeds, end[1])
			if (err == nil) != (wantErr == nil) || err != nil && !strings.Contains(err.Error(), "assertion failed") {
				t.Fatalf("error %v, want %v", err, wantErr)
			}
			if err == nil && differ(got[0], want[0]) != "" {
				t.Error(differ(got[0], want[0]))
			}
		}
	}
}

// TestSumsBesideTheLoop: sums that other threads add up while the loop goes on, several in
// one loop, have the bits of one addition after the other; steps that fail or end while they
// do leave nothing behind.
func TestSumsBesideTheLoop(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 9))
	for range 4 {
		g := tf.NewGraph()
		size := func() int { return 48 + r.IntN(100) }
		m, n, k, d := size(), size(), size(), []tf.DType{tf.Float32, tf.Float64}[r.IntN(2)]
		x, y := ops.Placeholder(g, d, tf.Shape{k, m}), ops.Placeholder(g, d, tf.Shape{k, n})
		last := ops.Placeholder(g, tf.Int32, tf.Shape{})
		o := ops.MatMulOpts{TransposeA: true}
		first := []tf.Output{ops.Scalar(g, int32(0)), ops.MatMul(x, y, o), ops.MatMul(y, y, o), ops.MatMul(y, x, o)}
		end := tf.While(first, below(g, 70), func(v []tf.Output) []tf.Output {
			check := ops.Assert(ops.Less(v[0], last), []tf.Output{v[0]})
			var by tf.Output
			g.ControlDependencies([]*tf.Operation{check}, func() { by = ops.Cast(v[0], d) })
			a, b := ops.Mul(x, ops.Cos(by)), ops.AddV2(y, by)
			return []tf.Output{ops.AddV2(v[0], ops.Scalar(g, int32(1))), ops.AddV2(v[1], ops.MatMul(a, b, o)), ops.AddV2(v[2], ops.MatMul(b, b, o)), ops.AddV2(ops.MatMul(b, a, o), v[3])}
		})
		feeds := session.Feeds{x: normal(r, d, tf.Shape{k, m}), y: normal(r, d, tf.Shape{k, n})}
		plain, fused := open(t, g)
		for _, s := range fused {
			for _, n := range []int32{70, 37, 70, int32(r.IntN(70)), 70} {
				feeds[last] = (*tf.Tensor)(core.Scalar(n))
				want, wantErr := plain.Run(context.Background(), feeds, end[1], end[2], end[3])
				got, err := s.Run(context.Background(), feeds, end[1], end[2], end[3])
				if (err == nil) != (wantErr == nil) {
					t.Fatalf("error %v, want %v", err, wantErr)
				}
				for i := range got {
					if why := differ(got[i], want[i]); why != "" {
						t.Fatalf("[%d %d]·[%d %d], sum %d: %s", m, k, k, n, i, why)
					}
				}
			}
			ctx, cancel := context.WithCancel(context.Background())
			feeds[last] = (*tf.Tensor)(core.Scalar(int32(70)))
			go cancel()
			_, _ = s.Run(ctx, feeds, end[1], end[2], end[3])
		}
	}
}
