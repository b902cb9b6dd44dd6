package main

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/ops/checkpoint"
	"github.com/gorge-tf/gorge/tf/session"
)

// saver is workload 11: variables of 500 MB to a checkpoint and back. It
// writes to the folder for temporary files (TMPDIR).
func saver(b *bench) {
	n := int32(12_500_000)
	if b.quick {
		n /= 10
	}
	folder := must(os.MkdirTemp("", "bench"))
	defer os.RemoveAll(folder)
	g := tf.NewGraph()
	vars := ramps(g, 10, n)
	save, restore := checkpointOf(g, filepath.Join(folder, "model"), vars)
	sum := ops.Scalar(g, float32(0))
	for _, v := range vars {
		sum = ops.AddV2(sum, ops.Mean(v.Value(), ops.Const(g, []int32{0})))
	}
	s := b.open(g, false)
	defer s.Close()
	run := func(op *tf.Operation) func() { return func() { must(s.Run(ctx, nil, op)) } }
	run(tf.InitializeAll(g))()
	run(save)()
	mb := float64(len(vars)) * float64(n) * 4 / 1e6
	b.emit("save_MB_per_s", mb/b.best(1, 5, run(save)), "MB/s")
	b.emit("restore_MB_per_s", mb/b.best(1, 8, run(restore)), "MB/s")
	b.check("sum_of_means", float64(must(session.Fetch[float32](ctx, s, nil, sum))[0]), nil)
	b.check("bytes_on_disk", bytesIn(folder), nil)
}

// ramps adds variables of n values: those of variable k are (i mod 1024)/1024 + k.
func ramps(g *tf.Graph, count int, n int32) []*tf.Variable {
	vars := make([]*tf.Variable, count)
	for k := range vars {
		i := ops.FloorMod(ops.Range(g, 0, ops.Scalar(g, n), 1), ops.Scalar(g, int32(1024)))
		x := ops.RealDiv(ops.Cast(i, tf.Float32), ops.Scalar(g, float32(1024)))
		vars[k] = tf.NewVariable(ops.AddV2(x, ops.Scalar(g, float32(k))), tf.VariableOptions{Name: fmt.Sprint("var", k)})
	}
	return vars
}

// checkpointOf adds what saves the variables to one file and what restores
// them.
func checkpointOf(g *tf.Graph, prefix string, vars []*tf.Variable) (save, restore *tf.Operation) {
	names, whole := make([]string, len(vars)), make([]string, len(vars))
	values, types := make([]tf.Output, len(vars)), make([]tf.DType, len(vars))
	for k, v := range vars {
		names[k], values[k], types[k] = fmt.Sprint("var", k), v.Value(), tf.Float32
	}
	p, ns, sl := ops.Scalar(g, prefix), ops.Const(g, names), ops.Const(g, whole)
	save = checkpoint.SaveV2(p, ns, sl, values)
	var assigned []*tf.Operation
	for k, y := range checkpoint.RestoreV2(p, ns, sl, types) {
		assigned = append(assigned, vars[k].Assign(y))
	}
	return save, tf.Group(g, "restore", assigned...)
}

// bytesIn is the size of the files in a folder.
func bytesIn(folder string) float64 {
	total := 0.0
	for _, e := range must(os.ReadDir(folder)) {
		total += float64(must(e.Info()).Size())
	}
	return total
}
