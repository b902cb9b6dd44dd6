package checkpoint_test

import (
	"fmt"
	"math"
	"path/filepath"
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/eager"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/ops/checkpoint"
	"github.com/gorge-tf/gorge/tf/ops/io"
	"github.com/gorge-tf/gorge/tf/optest"
)

func init() {
	// remapped saves a matrix and loads parts of it: inputs are the mappings
	// and the values for what is new.
	remapped := func(numRows, numCols int, opts ...tf.Option) func(*tf.Graph, []tf.Output) []tf.Output {
		return func(g *tf.Graph, in []tf.Output) []tf.Output {
			saved := checkpoint.SaveV2(str(g, "remap/m"), strs(g, "m", "v"), strs(g, "", ""), []tf.Output{ops.ConstValue(g, matrix), ops.Const(g, []float32{1, 2})})
			return []tf.Output{checkpoint.LoadAndRemapMatrix(str(g, "remap/m"), str(g, "m"), in[0], in[1], in[2], numRows, numCols, append(opts, tf.After(saved))...)}
		}
	}
	ids, none, floats := optest.Vec[int64], optest.Vec[int64](), optest.Vec[float32]
	add := func(name string, f func(*tf.Graph, []tf.Output) []tf.Output, in ...*core.Tensor) {
		optest.Add(optest.Sample{Op: "LoadAndRemapMatrix", Name: name, In: in, F: f, Types: optest.OnlyOwn})
	}
	fails := func(name string, f func(*tf.Graph, []tf.Output) []tf.Output, in ...*core.Tensor) {
		optest.Add(optest.Failing("LoadAndRemapMatrix", name, f, in...))
	}
	add("", remapped(3, 3), ids(2, -1, 0), none, floats(7, 8, 9))
	add("columns", remapped(2, 4), ids(3, 1), ids(2, -1, 0, 1), floats(5, 6))
	add("in parts", remapped(4, 3, checkpoint.MaxRowsInMemory(2)), ids(3, 1, 0, -1), ids(0, 1, 2), floats(5, 6, 7))
	add("all new", remapped(1, 2), ids(-1), ids(-1, -1), floats(5, 6))
	fails("rows", remapped(2, 3), ids(0), none, floats())
	fails("columns", remapped(1, 3), ids(0), ids(0), floats())
	fails("width", remapped(1, 2), ids(0), none, floats())
	fails("twice", remapped(2, 3), ids(1, 1), none, floats())
	fails("few values", remapped(2, 3), ids(1, -1), none, floats(1, 2))
	fails("many values", remapped(1, 3), ids(1), none, floats(1))
	fails("no such row", remapped(1, 3), ids(4), none, floats())
}

func init() {
	// words writes both vocabularies and maps one to the other.
	words := func(offset, count int, opts ...tf.Option) func(*tf.Graph, []tf.Output) []tf.Output {
		return func(g *tf.Graph, in []tf.Output) []tf.Output {
			fresh, old := str(g, "vocab/new"), str(g, "vocab/old")
			both := tf.After(io.WriteFile(fresh, in[0]), io.WriteFile(old, in[1]))
			remapping, present := checkpoint.GenerateVocabRemapping(fresh, old, offset, count, append(opts, both)...)
			return []tf.Output{ops.Identity(remapping), present} // kernels that depend on the disk are not called by themselves
		}
	}
	fresh, old := core.Scalar("knitting\neminem\nMISSING\ncrocheting\n"), core.Scalar("knitting\r\ncrocheting\neminem")
	add := func(name string, f func(*tf.Graph, []tf.Output) []tf.Output) {
		optest.Add(optest.Sample{Op: "GenerateVocabRemapping", Name: name, In: []*core.Tensor{fresh, old}, F: f, Types: optest.OnlyOwn})
	}
	add("", words(0, 4))
	add("offset", words(1, 2))
	add("old size", words(0, 4, checkpoint.OldVocabSize(2)))
	optest.Add(optest.Failing("GenerateVocabRemapping", "lines", words(2, 3), fresh, old))
}

// TestRemapsToTheEnd: parts of rows may be longer than a matrix is, and elements that are
// neither in it nor new are 0, not what memory happened to hold.
func TestRemapsToTheEnd(t *testing.T) {
	g := eager.New()
	prefix := ops.Scalar(g, filepath.Join(t.TempDir(), "model"))
	m := ops.Const(g, []float32{1, 2, 3, 4}, 2, 2)
	if err := checkpoint.SaveV2(prefix, ops.Const(g, []string{"m"}), ops.Const(g, []string{""}), []tf.Output{m}).Err(); err != nil {
		t.Fatal(err)
	}
	rows, columns, none := ops.Const(g, []int64{1}), ops.Const(g, []int64{1, 7}), ops.Const(g, []float32{})
	v, err := checkpoint.LoadAndRemapMatrix(prefix, ops.Scalar(g, "m"), rows, columns, none, 1, 2, checkpoint.MaxRowsInMemory(math.MaxInt64)).Value()
	if got := fmt.Sprint(v); err != nil || got != "float32[1,2]{4, 0}" {
		t.Errorf("got %s, %v, want float32[1,2]{4, 0}", got, err)
	}
}
