package lookup_test

import (
	"embed"
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/ops/lookup"
	"github.com/gorge-tf/gorge/tf/optest"
)

//go:embed testdata/golden
var golden embed.FS

func TestOps(t *testing.T) { optest.Run(t, golden) }

func init() {
	for _, op := range []string{
		"HashTable", "HashTableV2", "AnonymousHashTable", "MutableHashTable", "MutableHashTableV2", "AnonymousMutableHashTable",
		"MutableHashTableOfTensors", "MutableHashTableOfTensorsV2", "AnonymousMutableHashTableOfTensors",
		"MutableDenseHashTable", "MutableDenseHashTableV2", "AnonymousMutableDenseHashTable",
	} {
		optest.Unsampled(op, "its result is a handle; the samples of what uses tables make them")
	}
	for _, op := range []string{
		"LookupTableInsert", "LookupTableInsertV2", "LookupTableRemoveV2", "LookupTableImport", "LookupTableImportV2",
		"InitializeTable", "InitializeTableV2", "InitializeTableFromTextFile", "InitializeTableFromTextFileV2", "InitializeTableFromDataset",
	} {
		optest.Unsampled(op, "it has no outputs; the samples of what looks keys up run it")
	}
	addFind()
	addDense()
}

// filled makes a function that makes a table, fills it from the first two
// inputs and looks the third up.
func filled(make func(g *tf.Graph, key, value tf.DType) tf.Output, fill func(table, keys, values tf.Output, opts ...tf.Option) *tf.Operation) func(*tf.Graph, []tf.Output) []tf.Output {
	return func(g *tf.Graph, in []tf.Output) []tf.Output {
		t := make(g, in[0].DType(), in[1].DType())
		full := tf.After(fill(t, in[0], in[1]))
		return []tf.Output{lookup.LookupTableFindV2(t, in[2], in[3], full), lookup.LookupTableSizeV2(t, full)}
	}
}

func addFind() {
	hash := filled(func(g *tf.Graph, k, v tf.DType) tf.Output { return lookup.HashTableV2(g, k, v) }, lookup.InitializeTableV2)
	mutable := filled(func(g *tf.Graph, k, v tf.DType) tf.Output { return lookup.MutableHashTableV2(g, k, v) }, lookup.LookupTableInsertV2)
	vectors := filled(func(g *tf.Graph, k, v tf.DType) tf.Output { return lookup.MutableHashTableOfTensorsV2(g, k, v, 2) }, lookup.LookupTableInsertV2)
	words, numbers := optest.Vec("a", "b", "c"), optest.Vec[int64](10, -20, 30)
	asked := optest.Mat(2, "b", "x", "a", "")
	add := func(name string, f func(*tf.Graph, []tf.Output) []tf.Output, in ...*core.Tensor) {
		optest.Add(optest.Sample{Op: "LookupTableFindV2", Name: name, In: in, F: f, Types: optest.OnlyOwn, Static: "handles carry types"})
	}
	add("", hash, words, numbers, asked, core.Scalar(int64(-1)))
	add("numbers", hash, numbers, words, optest.Vec[int64](30, 31), core.Scalar("?"))
	add("repeated", hash, optest.Vec("a", "b", "a"), optest.Vec[float32](1, 2, 1), words, core.Scalar(float32(0.5)))
	add("mutable", mutable, words, numbers, asked, core.Scalar(int64(-1)))
	add("mutable, repeated", mutable, optest.Vec[int32](1, 1, 2), optest.Vec(1.5, 2.5, 3.5), optest.I32(2, 1, 0), core.Scalar(-1.0))
	add("a default for each", mutable, words, numbers, optest.Vec("z", "a"), optest.Vec[int64](7, 8))
	add("vectors", vectors, words, optest.Mat[int64](2, 1, 2, 3, 4, 5, 6), asked, optest.Vec[int64](-1, -2))
	bad := func(name string, f func(*tf.Graph, []tf.Output) []tf.Output, in ...*core.Tensor) {
		optest.Add(optest.Failing("LookupTableFindV2", name, f, in...))
	}
	imported := filled(func(g *tf.Graph, k, v tf.DType) tf.Output { return lookup.HashTableV2(g, k, v) }, lookup.LookupTableImportV2)
	add("imported", imported, words, numbers, asked, core.Scalar(int64(-1)))
	bad("nothing imported", imported, optest.Vec[string](), optest.Vec[int64](), words, core.Scalar(int64(1)))
	bad("types", hash, words, numbers, optest.I32(1), core.Scalar(int64(1)))
	bad("default", hash, words, numbers, words, optest.Vec[int64](1, 2))
	bad("conflict", hash, optest.Vec("a", "a"), optest.Vec[int64](1, 2), words, core.Scalar(int64(1)))
	bad("lengths", hash, words, optest.Vec[int64](1, 2), words, core.Scalar(int64(1)))
	bad("values", mutable, words, optest.Vec[int64](1, 2), words, core.Scalar(int64(1)))
	bad("vector", vectors, words, numbers, words, optest.Vec[int64](1, 2))
}

func addDense() {
	dense := func(o lookup.DenseOpts) func(*tf.Graph, []tf.Output) []tf.Output {
		return func(_ *tf.Graph, in []tf.Output) []tf.Output {
			t := lookup.MutableDenseHashTableV2(in[0], in[1], in[3].DType(), o)
			full := tf.After(lookup.LookupTableInsertV2(t, in[2], in[3]))
			less := tf.After(lookup.LookupTableRemoveV2(t, in[4], full))
			keys, values := lookup.LookupTableExportV2(t, in[2].DType(), in[3].DType(), less)
			return []tf.Output{keys, values, lookup.LookupTableSizeV2(t, less)}
		}
	}
	add := func(name string, o lookup.DenseOpts, in ...*core.Tensor) {
		optest.Add(optest.Sample{Op: "LookupTableExportV2", Name: name, In: in, F: dense(o), Types: optest.OnlyOwn, Static: "handles carry types"})
	}
	small := lookup.DenseOpts{InitialNumBuckets: 4}
	add("", small, core.Scalar(int64(0)), core.Scalar(int64(-1)), optest.Vec[int64](11, 12, 13, 27, 1), optest.Vec[int64](1, 2, 3, 4, 5), optest.Vec[int64](12, 99))
	add("strings", small, core.Scalar(""), core.Scalar("-"), optest.Vec("ab", "a longer string", "c"), optest.Vec[float32](1, 2, 3), optest.Vec("c"))
	add("vectors", lookup.DenseOpts{InitialNumBuckets: 8, ValueShape: tf.Shape{2}}, optest.Vec[int64](0, 0), optest.Vec[int64](-1, 0),
		optest.Mat[int64](2, 1, 2, 3, 4), optest.Mat[int64](2, 5, 6, 7, 8), optest.Mat[int64](2, 1, 2))
	bad := func(name string, o lookup.DenseOpts, in ...*core.Tensor) {
		optest.Add(optest.Failing("LookupTableExportV2", name, dense(o), in...))
	}
	one := optest.Vec[int64](1)
	bad("buckets", lookup.DenseOpts{InitialNumBuckets: 12}, core.Scalar(int64(0)), core.Scalar(int64(-1)), one, one, one)
	bad("same marks", small, core.Scalar(int64(0)), core.Scalar(int64(0)), one, one, one)
	bad("empty key", small, core.Scalar(int64(0)), core.Scalar(int64(-1)), optest.Vec[int64](0), one, one)
	bad("deleted key", small, core.Scalar(int64(0)), core.Scalar(int64(-1)), optest.Vec[int64](-1), one, one)
	bad("load", lookup.DenseOpts{InitialNumBuckets: 4, MaxLoadFactor: 1.5}, core.Scalar(int64(0)), core.Scalar(int64(-1)), one, one, one)
}

func ref(g *tf.Graph, op string, in []tf.Output, opts ...tf.Option) *tf.Operation {
	return tf.Apply(g, op, in, opts...)
}

func init() {
	first := func(g *tf.Graph, in []tf.Output) []tf.Output {
		t := ref(g, "HashTable", nil, tf.Attr("key_dtype", tf.String), tf.Attr("value_dtype", tf.Int64)).Output(0)
		full := tf.After(ref(g, "InitializeTable", []tf.Output{t, in[0], in[1]}))
		return []tf.Output{ref(g, "LookupTableFind", []tf.Output{t, in[2], in[3]}, full).Output(0)}
	}
	counted := func(g *tf.Graph, in []tf.Output) []tf.Output {
		t := ref(g, "MutableHashTable", nil, tf.Attr("key_dtype", tf.String), tf.Attr("value_dtype", tf.Int64)).Output(0)
		full := tf.After(ref(g, "LookupTableImport", []tf.Output{t, in[0], in[1]}))
		return []tf.Output{ref(g, "LookupTableSize", []tf.Output{t}, full).Output(0)}
	}
	exported := func(g *tf.Graph, in []tf.Output) []tf.Output {
		t := ref(g, "MutableHashTable", nil, tf.Attr("key_dtype", tf.String), tf.Attr("value_dtype", tf.Int64)).Output(0)
		full := tf.After(ref(g, "LookupTableInsert", []tf.Output{t, in[0], in[1]}))
		return ref(g, "LookupTableExport", []tf.Output{t}, tf.Attr("Tkeys", tf.String), tf.Attr("Tvalues", tf.Int64), full).Outputs()
	}
	const why = "reference tables live in graphs"
	words, numbers := optest.Vec("a", "b"), optest.Vec[int64](1, 2)
	optest.Add(
		optest.Sample{Op: "LookupTableFind", In: []*core.Tensor{words, numbers, optest.Vec("b", "c"), core.Scalar(int64(9))}, F: first, Types: optest.OnlyOwn, GraphOnly: why},
		optest.Sample{Op: "LookupTableSize", In: []*core.Tensor{words, numbers}, F: counted, Types: optest.OnlyOwn, GraphOnly: why},
		optest.Sample{Op: "LookupTableExport", In: []*core.Tensor{optest.Vec("a"), optest.Vec[int64](5)}, F: exported, Types: optest.OnlyOwn, GraphOnly: why},
		optest.Sample{Op: "LookupTableSizeV2", F: func(g *tf.Graph, _ []tf.Output) []tf.Output {
			return []tf.Output{lookup.LookupTableSizeV2(lookup.HashTableV2(g, tf.String, tf.Int64))}
		}},
	)
}
