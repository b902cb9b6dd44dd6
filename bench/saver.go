package main

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"time"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/session"
	"github.com/gorge-tf/gorge/tf/train"
)

// saver is workload 11: variables of 500 MB to a checkpoint and back, by whole Savers. It
// writes to the folder for temporary files (TMPDIR). Gorge's saves are on the disk when
// they end (fsync); TensorFlow's row of that kind has the wait for the disk added.
func saver(b *bench) {
	n := int32(12_500_000)
	if b.quick {
		n /= 10
	}
	folder := must(os.MkdirTemp("", "bench"))
	defer os.RemoveAll(folder)
	g := tf.NewGraph()
	vars := ramps(g, 10, n)
	sv := must(train.NewSaver(g, train.SaverOptions{Vars: vars}))
	sum := ops.Scalar(g, float32(0))
	var updates []*tf.Operation
	for _, v := range vars {
		sum = ops.AddV2(sum, ops.Mean(v.Value(), ops.Const(g, []int32{0})))
		updates = append(updates, v.AssignAdd(ops.ZerosLike(v.Value())))
	}
	step := tf.Group(g, "step", updates...)
	s := b.open(g, false)
	defer s.Close()
	must(s.Run(ctx, nil, tf.InitializeAll(g)))
	path := filepath.Join(folder, "model")
	only := train.SaveOptions{NoMetaGraph: true, NoState: true}
	save := func() { must(sv.Save(ctx, s, path, only)) }
	restore := func() { must(0, sv.Restore(ctx, s, path)) }
	save()
	mb := float64(len(vars)) * float64(n) * 4 / 1e6
	took := b.best(1, 5, save)
	b.emit("save_MB_per_s", mb/took, "MB/s")
	b.emit("save_fsync_MB_per_s", mb/took, "MB/s")
	b.emit("restore_MB_per_s", mb/b.best(1, 8, restore), "MB/s")
	b.check("sum_of_means", float64(must(session.Fetch[float32](ctx, s, nil, sum))[0]), nil)
	b.check("bytes_on_disk", bytesIn(folder), nil)
	b.async(took, func() *train.PendingSave { return must(sv.SaveAsync(ctx, s, path, only)) }, func() { must(s.Run(ctx, nil, step)) })
}

// async measures for how long a save that is written beside training stops it, as a
// share of the seconds that a synchronous one takes. The first step after it writes what
// it updates to new memory. How much longer it takes for that is the difference to the
// second step, which also runs while the save is being written, on the same cores.
func (b *bench) async(save float64, begin func() *train.PendingSave, step func()) {
	step()
	plain := b.best(1, 5, step)
	timed := func(f func()) float64 {
		start := time.Now()
		f()
		return time.Since(start).Seconds()
	}
	stop, first, second, all := math.Inf(1), math.Inf(1), math.Inf(1), math.Inf(1)
	for range 8 {
		start, steps := time.Now(), 2.0
		var p *train.PendingSave
		stop = min(stop, timed(func() { p = begin() }))
		first = min(first, timed(step))
		more := timed(step)
		select {
		case <-p.Done(): // the second step had the cores for itself
		default:
			second = min(second, more)
		}
		for done := false; !done; {
			select {
			case <-p.Done():
				done = true
			default:
				step()
				steps++
			}
		}
		all = min(all, time.Since(start).Seconds()-steps*plain)
		must(p.Wait(ctx))
	}
	b.emit("async_stop_ms", stop*1e3, "ms")
	b.emit("async_stop_share", stop/save, "")
	b.emit("async_step_ms", plain*1e3, "ms")
	b.emit("async_first_step_ms", first*1e3, "ms")
	b.emit("async_second_step_ms", second*1e3, "ms")
	b.emit("async_new_memory_share", (first-second)/save, "")
	b.emit("async_slowdown_share", all/save, "")
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

// bytesIn is the size of the files in a folder.
func bytesIn(folder string) float64 {
	total := 0.0
	for _, e := range must(os.ReadDir(folder)) {
		total += float64(must(e.Info()).Size())
	}
	return total
}
