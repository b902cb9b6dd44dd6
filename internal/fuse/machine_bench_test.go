package fuse_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/gorge-tf/gorge/internal/machine"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/session"
)

// BenchmarkChain runs chains of simple operations on variables, with and without machine
// code.
func BenchmarkChain(b *testing.B) {
	for _, threads := range []int{1, 2} {
		for _, nodes := range []int{2, 3, 4, 8} {
			for _, n := range []int{1, 16, 64, 256, 1 << 10, 16 << 10, 1 << 20} {
				for _, code := range []bool{false, true} {
					b.Run(fmt.Sprintf("threads=%d/nodes=%d/n=%d/code=%v", threads, nodes, n, code), func(b *testing.B) {
						defer machine.Use(machine.Available())
						machine.Use(code)
						benchmarkChain(b, threads, nodes, n)
					})
				}
			}
		}
	}
}

func benchmarkChain(b *testing.B, threads, nodes, n int) {
	g := tf.NewGraph()
	v := tf.NewVariable(ops.Const(g, make([]float32, n)), tf.VariableOptions{})
	x := v.Value()
	y := x
	for i := range nodes {
		switch i % 4 {
		case 0:
			y = ops.Mul(y, ops.Scalar[float32](g, 1.5))
		case 1:
			y = ops.AddV2(y, x)
		case 2:
			y = ops.Maximum(y, ops.Scalar[float32](g, 0.25))
		case 3:
			y = ops.Sub(x, y)
		}
	}
	s := must(session.New(g, session.With(session.Config{Threads: threads})))
	defer s.Close()
	must(s.Run(context.Background(), nil, v.Initializer()))
	c := must(s.MakeCallable(nil, y.Operation()))
	b.ResetTimer()
	for range b.N {
		must(c.Run(context.Background()))
	}
}

// BenchmarkPlan runs a chain of 100 nodes for a shape that is new each time, or always the
// same: the difference is what a plan costs.
func BenchmarkPlan(b *testing.B) {
	for _, shapes := range []int{1, 500} {
		for _, code := range []bool{false, true} {
			b.Run(fmt.Sprintf("shapes=%d/code=%v", shapes, code), func(b *testing.B) {
				defer machine.Use(machine.Available())
				machine.Use(code)
				benchmarkPlan(b, shapes)
			})
		}
	}
}

func benchmarkPlan(b *testing.B, shapes int) {
	g := tf.NewGraph()
	x := ops.Placeholder(g, tf.Float32, tf.Shape{-1})
	y := x
	for i := range 25 {
		y = ops.Maximum(ops.AddV2(ops.Mul(y, x), ops.Scalar(g, float32(i))), ops.Neg(y))
		if i%5 == 4 {
			y = ops.Tanh(y)
		}
	}
	s := must(session.New(g, session.With(session.Config{Threads: 1})))
	defer s.Close()
	c := must(s.MakeCallable([]tf.Output{x}, y))
	values := make([]*tf.Tensor, shapes)
	for i := range values {
		values[i] = vector(make([]float32, 16+i)...)
	}
	b.ResetTimer()
	for i := range b.N {
		must(c.Run(context.Background(), values[i%shapes]))
	}
}
