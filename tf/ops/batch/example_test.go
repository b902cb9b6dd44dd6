package batch_test

import (
	"context"
	"fmt"
	"sync"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/ops/batch"
	"github.com/gorge-tf/gorge/tf/session"
)

// Two steps at once compute one batch of two rows, and each gets its own row
// back. A step that came alone would wait for a second at most.
func ExampleFunction() {
	g := tf.NewGraph()
	x := ops.Placeholder(g, tf.Float32, tf.Shape{-1})
	square := tf.NewFunction(g, "square", tf.SpecOf(x), func(in []tf.Output) []tf.Output { return []tf.Output{in[0].Mul(in[0])} })
	y := batch.Function(square, []tf.Output{x}, batch.Opts{Threads: 1, MaxSize: 2, TimeoutMicros: 1e6})
	s, err := session.New(g)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer s.Close()
	var steps sync.WaitGroup
	for _, row := range []float32{3, 4} {
		steps.Go(func() {
			in, err := tf.FromSlice([]float32{row})
			if err != nil {
				fmt.Println(err)
				return
			}
			out, err := s.Run(context.Background(), session.Feeds{x: in}, y[0])
			fmt.Println(out, err)
		})
	}
	steps.Wait()
	// Unordered output:
	// [float32[1]{9}] <nil>
	// [float32[1]{16}] <nil>
}
