package eager_test

import (
	"runtime"
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/eager"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/ops/lookup"
	"github.com/gorge-tf/gorge/tf/ops/queue"
)

// TestOwnResources: what makes a resource without a name makes another one each time, as each node
// of a graph does, and it lasts as long as its handle, whatever else is collected.
func TestOwnResources(t *testing.T) {
	for name, c := range map[string]struct {
		make func(g *tf.Graph) tf.Output
		put  func(h tf.Output) error
		size func(h tf.Output) tf.Output
	}{
		"table": {
			func(g *tf.Graph) tf.Output { return lookup.HashTableV2(g, tf.String, tf.Int64) },
			func(h tf.Output) error {
				return lookup.InitializeTableV2(h, ops.Const(h.Graph(), []string{"a"}), ops.Const(h.Graph(), []int64{1})).Err()
			}, func(h tf.Output) tf.Output { return lookup.LookupTableSizeV2(h) },
		},
		"table that changes": {
			func(g *tf.Graph) tf.Output { return lookup.MutableHashTableV2(g, tf.String, tf.Int64, tf.Name("t")) },
			func(h tf.Output) error {
				return lookup.LookupTableInsertV2(h, ops.Const(h.Graph(), []string{"a"}), ops.Const(h.Graph(), []int64{1})).Err()
			}, func(h tf.Output) tf.Output { return lookup.LookupTableSizeV2(h) },
		},
		"queue": {
			func(g *tf.Graph) tf.Output { return queue.FIFOQueueV2(g, []tf.DType{tf.Int64}) },
			func(h tf.Output) error {
				return queue.QueueEnqueueV2(h, []tf.Output{ops.Scalar[int64](h.Graph(), 1)}).Err()
			}, func(h tf.Output) tf.Output { return queue.QueueSizeV2(h) },
		},
	} {
		t.Run(name, func(t *testing.T) {
			g := eager.New()
			first, second := c.make(g), c.make(g)
			if err := c.put(first); err != nil {
				t.Fatal(err)
			}
			for range 3 {
				runtime.GC()
			}
			for i, h := range []tf.Output{first, second, c.make(g)} {
				v, err := c.size(h).Value()
				if err != nil {
					t.Fatal(err)
				}
				if n, _ := v.Ints(); n[0] != []int{1, 0, 0}[i] {
					t.Errorf("number %d has %d elements", i, n[0])
				}
			}
		})
	}
	g := eager.New()
	_ = lookup.InitializeTableFromTextFileV2(lookup.HashTableV2(g, tf.String, tf.Int64), ops.Scalar(g, "/dev/null"), -2, -1)
	if err := lookup.InitializeTableFromTextFileV2(lookup.HashTableV2(g, tf.String, tf.Int64), ops.Scalar(g, "/no/such"), -2, -1).Err(); tf.CodeOf(err) != tf.NotFound {
		t.Errorf("a file that is not there: %v", err)
	}
}

// TestNoRows: loops over no rows give tensors without rows, of the shape that their function has.
func TestNoRows(t *testing.T) {
	g := eager.New()
	none, w := ops.Const(g, []float32{}, 0, 2), ops.Const(g, []float32{1, 2, 3, 4, 5, 6}, 2, 3)
	twice := func(rows []tf.Output) []tf.Output { return []tf.Output{ops.MatMul(rows[0].Reshape(1, 2), w)} }
	y := ops.MapFn(twice, []tf.Output{none}, []tf.DType{tf.Float32})[0]
	if v, err := y.Value(); err != nil || !v.Shape().Equal(tf.Shape{0, 1, 3}) {
		t.Errorf("MapFn: %v, %v", v, err)
	}
	add := func(before, rows []tf.Output) []tf.Output { return []tf.Output{before[0].Add(rows[0])} }
	y = ops.Scan(add, []tf.Output{none}, []tf.Output{ops.Const(g, []float32{1, 2})})[0]
	if v, err := y.Value(); err != nil || !v.Shape().Equal(tf.Shape{0, 2}) {
		t.Errorf("Scan: %v, %v", v, err)
	}
}
