package main

import (
	"fmt"
	"runtime"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/session"
)

// copies is workload 25: what crosses a session's border is copied. It shows each way
// beside a bare copy of as many bytes, into memory that is there and into new memory.
func copies(b *bench) {
	for _, n := range []int{16 << 10, 256 << 10, 16 << 20} {
		g := tf.NewGraph()
		v := tf.NewVariable(ops.Const(g, make([]float32, n), n), tf.VariableOptions{})
		x := ops.Placeholder(g, tf.Float32, tf.Shape{n})
		assign := v.Assign(x)
		s := b.open(g, false)
		must(s.Run(ctx, nil, tf.InitializeAll(g)))
		var made []float32                               // what a measurement makes, so that it is made
		from, to := positive(2100, n), positive(2101, n) // written, so that each page is there
		for _, way := range []struct {
			name string
			f    func()
		}{
			{"copy", func() { copy(to, from) }},
			{"copy_new", func() { made = append([]float32(nil), from...) }},
			{"fetch_into", func() { must(0, session.FetchInto(ctx, s, to, nil, v.Value())) }},
			{"fetch", func() { made = must(session.Fetch[float32](ctx, s, nil, v.Value())) }},
			{"feed", func() { must(s.Run(ctx, session.Feeds{x: must(tf.FromSlice(from))}, assign)) }},
			{"feed_adopted", func() { must(s.Run(ctx, session.Feeds{x: must(tf.Adopt(from))}, assign)) }},
		} {
			seconds := b.bestAuto(way.f)
			b.emit(fmt.Sprintf("%dKB.%s.MB/s", n*4>>10, way.name), float64(4*n)/seconds/1e6, "MB/s")
		}
		runtime.KeepAlive(made)
		s.Close()
	}
}
