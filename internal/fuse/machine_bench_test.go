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
						machine.Use(code)
						defer machine.Use(true)
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
