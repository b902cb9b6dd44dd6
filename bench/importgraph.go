package main

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/ops"
)

// graphBytes is how large the GraphDef of workload 16 is at least.
const graphBytes = 100_000_000

// importGraph is workload 16. It leaves the GraphDef at importFile for
// tensorflow/import_graph.py.
func importGraph(b *bench) {
	data := layersGraph(b.steps(graphBytes))
	if err := os.WriteFile(importFile(), data, 0o600); err != nil {
		fatal(err)
	}
	g := tf.NewGraph()
	read := func() {
		g = tf.NewGraph()
		if err := g.ImportGraphDef(data, tf.ImportOptions{}); err != nil {
			fatal(err)
		}
	}
	t := b.best(1, 5, read)
	b.check("import.nodes", float64(len(g.Operations())), nil)
	b.emit("import.s", t, "s")
}

func importFile() string { return filepath.Join(os.TempDir(), "gorge-bench-import.pb") }

// layersGraph is a GraphDef of at least n bytes: dense layers one after the
// other, every eighth with its weights in full.
func layersGraph(n int) []byte {
	g := tf.NewGraph()
	x := ops.Placeholder(g, tf.Float32, tf.Shape{-1, 64}, tf.Name("x"))
	full, flat := make([]float32, 64*64), ops.Scalar(g, float32(0.5))
	for size, i := 0, 0; size < n; i++ {
		g.Scope(fmt.Sprintf("layer%d", i), func() {
			w := ops.Fill(ops.Const(g, []int32{64, 64}), flat)
			if i%8 == 0 {
				w = ops.Const(g, full, 64, 64)
				size += 4 * len(full)
			}
			x = ops.Tanh(ops.AddV2(ops.MatMul(x, w), ops.Scalar(g, float32(1))))
		})
		size += 900 // of a layer's nodes
	}
	return must(g.MarshalGraphDef())
}
