package checkpoint_test

import (
	"embed"
	"flag"
	"path/filepath"
	"testing"

	"github.com/gorge-tf/gorge/internal/leaktest"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/ops/checkpoint"
	"github.com/gorge-tf/gorge/tf/optest"
)

//go:embed testdata/golden
var golden embed.FS

// TestOps runs in a folder of its own: the files that samples write and read
// have relative names, which is how TensorFlow gave the same results elsewhere.
func TestOps(t *testing.T) {
	folder := t.TempDir()
	if export := flag.Lookup("export").Value; export.String() != "" {
		abs, err := filepath.Abs(export.String())
		if err != nil || export.Set(abs) != nil {
			t.Fatal(err)
		}
	}
	t.Chdir(folder)
	optest.Run(t, golden)
}

func TestMain(m *testing.M) { leaktest.Main(m) }

func strs(g *tf.Graph, v ...string) tf.Output { return ops.Const(g, v) }

func str(g *tf.Graph, v string) tf.Output { return ops.Scalar(g, v) }

// typesOf returns the types of outputs.
func typesOf(ys []tf.Output) []tf.DType {
	types := make([]tf.DType, len(ys))
	for i, y := range ys {
		types[i] = y.DType()
	}
	return types
}

var (
	matrix = optest.Seq(4, 3)
	words  = optest.Mat(2, "a", "", "long\xff", "b")
)

func init() {
	// all saves the inputs under the names given and restores them, or slices
	// of them.
	all := func(prefix string, names, save, restore []string) func(*tf.Graph, []tf.Output) []tf.Output {
		return func(g *tf.Graph, in []tf.Output) []tf.Output {
			saved := checkpoint.SaveV2(str(g, prefix), strs(g, names...), strs(g, save...), in)
			return checkpoint.RestoreV2(str(g, prefix), strs(g, names...), strs(g, restore...), typesOf(in), tf.After(saved))
		}
	}
	two, none := []string{"m", "w"}, []string{"", ""}
	add := func(op, name string, f func(*tf.Graph, []tf.Output) []tf.Output, in ...*core.Tensor) {
		optest.Add(optest.Sample{Op: op, Name: name, In: in, F: f, Types: optest.OnlyOwn})
	}
	add("SaveV2", "", all("v2/save", two, none, none), matrix, words)
	add("RestoreV2", "", all("v2/restore", two, none, []string{"4 3 1,2:0,2", "2 2 -:-"}), matrix, words)
	add("RestoreV2", "types", all("v2/types", []string{"a", "b", "c", "d", "e", "f"}, make([]string, 6), make([]string, 6)),
		optest.Vec[float64](1, 2), optest.Vec[tf.Half](1, 2), optest.Vec(true, false), core.Scalar(int8(-1)), optest.Vec[complex64](1i), core.NewTensor(tf.Int32, tf.Shape{0, 2}))
	add("SaveV2", "slices", func(g *tf.Graph, in []tf.Output) []tf.Output {
		saved := checkpoint.SaveV2(str(g, "v2/parts"), strs(g, "m", "m"), strs(g, "8 3 0,4:-", "8 3 4,4:-"), []tf.Output{in[0], ops.Neg(in[0])})
		return checkpoint.RestoreV2(str(g, "v2/parts"), strs(g, "m", "m"), strs(g, "", "8 3 3,2:1,2"), []tf.DType{tf.Float32, tf.Float32}, tf.After(saved))
	}, matrix)
	add("MergeV2Checkpoints", "", func(g *tf.Graph, in []tf.Output) []tf.Output {
		one := checkpoint.SaveV2(str(g, "one/part"), strs(g, "m", "p"), strs(g, "", "8 3 0,4:-"), []tf.Output{in[0], in[0]})
		other := checkpoint.SaveV2(str(g, "other/part"), strs(g, "w", "p"), strs(g, "", "8 3 4,4:-"), []tf.Output{in[1], in[0]})
		merged := checkpoint.MergeV2Checkpoints(strs(g, "one/part", "other/part", "none"), str(g, "merged"), checkpoint.MergeOpts{AllowMissingFiles: true}, tf.After(one, other))
		return checkpoint.RestoreV2(str(g, "merged"), strs(g, "m", "w", "p"), strs(g, "", "", ""), []tf.DType{tf.Float32, tf.String, tf.Float32}, tf.After(merged))
	}, matrix, words)
	add("Save", "", func(g *tf.Graph, in []tf.Output) []tf.Output {
		saved := checkpoint.Save(str(g, "v1"), strs(g, two...), in)
		return []tf.Output{
			checkpoint.Restore(str(g, "v1"), str(g, "m"), tf.Float32, tf.After(saved)),
			checkpoint.RestoreV2(str(g, "v1"), strs(g, "w"), strs(g, ""), []tf.DType{tf.String}, tf.After(saved))[0],
		}
	}, matrix, words)
	add("Restore", "", func(g *tf.Graph, in []tf.Output) []tf.Output {
		saved := checkpoint.Save(str(g, "v1-restore"), strs(g, "w"), in)
		return []tf.Output{checkpoint.Restore(str(g, "v1-re*"), str(g, "w"), tf.String, tf.After(saved))}
	}, words)
	slices := func(op, file string, in ...*core.Tensor) {
		add(op, "", func(g *tf.Graph, in []tf.Output) []tf.Output {
			saved := checkpoint.SaveSlices(str(g, file), strs(g, "m", "m"), strs(g, "8 3 0,4:-", "8 3 4,4:-"), []tf.Output{in[0], ops.Neg(in[0])})
			return []tf.Output{checkpoint.RestoreSlice(str(g, file), str(g, "m"), str(g, "8 3 3,2:1,2"), tf.Float32, tf.After(saved))}
		}, in...)
	}
	slices("SaveSlices", "v1-slices", matrix)
	slices("RestoreSlice", "v1-slice", matrix)
}

// Errors come from inputs, of which nothing is known while the graph is built.
func init() {
	name := func(v ...string) *core.Tensor { return optest.Vec(v...) }
	// restored saves a matrix and fails to restore it.
	restored := func(what string, d tf.DType, names, slices *core.Tensor) {
		optest.Add(optest.Failing("RestoreV2", what, func(g *tf.Graph, in []tf.Output) []tf.Output {
			saved := checkpoint.SaveV2(str(g, "bad/r"), strs(g, "m", "p"), strs(g, "", "8 3 0,4:-"), []tf.Output{in[0], in[0]})
			return checkpoint.RestoreV2(str(g, "bad/r"), in[1], in[2], []tf.DType{d}, tf.After(saved))
		}, matrix, names, slices))
	}
	restored("name", tf.Float32, name("x"), name(""))
	restored("type", tf.Int32, name("m"), name(""))
	restored("shape", tf.Float32, name("m"), name("4 4 -:-"))
	restored("slice", tf.Float32, name("m"), name("4 3 2,3:-"))
	restored("spec", tf.Float32, name("m"), name("4 3 0:-"))
	restored("gap", tf.Float32, name("p"), name("8 3 3,2:-"))
	restored("names", tf.Float32, name("m", "p"), name("", ""))
	restored("slices", tf.Float32, name("m"), name("", ""))
	restored("rank", tf.Float32, optest.Mat(1, "m"), optest.Mat(1, ""))
	optest.Add(optest.Failing("RestoreV2", "prefix", func(g *tf.Graph, in []tf.Output) []tf.Output {
		return checkpoint.RestoreV2(in[0], strs(g, "m"), strs(g, ""), []tf.DType{tf.Float32})
	}, core.Scalar("none/at/all")))
	// saved fails to save. Saving has no results of its own.
	saved := func(what string, names, slices *core.Tensor, more ...*core.Tensor) {
		optest.Add(optest.Failing("SaveV2", what, func(g *tf.Graph, in []tf.Output) []tf.Output {
			return []tf.Output{ops.Identity(in[2], tf.After(checkpoint.SaveV2(str(g, "bad/s"), in[0], in[1], in[2:])))}
		}, append([]*core.Tensor{names, slices, matrix}, more...)...))
	}
	saved("slice", name("m"), name("4 4 -:-"))
	saved("names", name("m", "n"), name("", ""))
	saved("duplicate", name("m", "m"), name("", ""), matrix)
	optest.Add(optest.Failing("MergeV2Checkpoints", "missing", func(g *tf.Graph, in []tf.Output) []tf.Output {
		return []tf.Output{ops.Identity(in[1], tf.After(checkpoint.MergeV2Checkpoints(in[0], in[1])))}
	}, name("bad/none"), core.Scalar("bad/merged")))
	older := func(what string, d tf.DType, file, name, slice string) {
		optest.Add(optest.Failing("RestoreSlice", what, func(g *tf.Graph, in []tf.Output) []tf.Output {
			saved := checkpoint.Save(str(g, "bad-v1"), strs(g, "m"), in[:1])
			return []tf.Output{checkpoint.RestoreSlice(in[1], in[2], in[3], d, tf.After(saved))}
		}, matrix, core.Scalar(file), core.Scalar(name), core.Scalar(slice)))
	}
	older("name", tf.Float32, "bad-v1", "x", "")
	older("type", tf.Int32, "bad-v1", "m", "")
	older("shape", tf.Float32, "bad-v1", "m", "4 4 -:-")
	older("file", tf.Float32, "bad-none", "m", "")
}
