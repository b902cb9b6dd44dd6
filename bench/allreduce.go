package main

import (
	"fmt"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/ops/collective"
)

// allReduce has two workers sum up a variable each.
func (b *bench) allReduce() {
	c := b.startCluster("server", map[string]int{"worker": 2})
	defer c.close()
	for key, w := range []struct {
		name   string
		n, run int
	}{{"1KB", 250, 50}, {"4MB", 1_000_000, 10}, {"100MB", 25_000_000, 1}} {
		b.sumUp(c.target(), w.name, w.n, w.run, key+1)
	}
}

// sumUp sums up n values and fetches the last one of each worker.
func (b *bench) sumUp(target, name string, n, runs, key int) {
	var ends []tf.Fetchable
	s := on(target, func(g *tf.Graph) {
		for task := range 2 {
			g.Device(fmt.Sprintf("/job:worker/task:%d/device:CPU:0", task), func() {
				first := ops.Fill(ops.Const(g, []int32{int32(n)}), ops.Scalar(g, float32(task+1)))
				v := tf.NewVariable(first, tf.VariableOptions{Name: fmt.Sprintf("c%d_%s", task, name)})
				sum := collective.Reduce(v.Value(), collective.Group{Size: 2, Key: 1, Instance: key}, "Add", "Id")
				ends = append(ends, last(g, sum, int32(n)))
			})
		}
	})
	defer s.Close()
	run := func() []*tf.Tensor { return must(s.Run(ctx, nil, ends...)) }
	got := run()
	b.check("all_reduce_"+name+".result", float64(tf.Data[float32](got[0])[0]+tf.Data[float32](got[1])[0]), nil)
	for range 3 {
		run()
	}
	t := b.best(runs, 10, func() { run() })
	b.emit("all_reduce_2_workers_"+name+".us", t*1e6, "us")
	b.emit("all_reduce_2_workers_"+name+".MB_per_s", float64(n)*4/1e6/t, "MB/s")
}
