package parsing

import (
	"slices"
	"strings"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/ops"
)

func init() {
	const values = "list({float, int64, string}) >= 0 = []"
	const splits = "list({int32, int64}) >= 0 = []"
	const contextOut = "context_sparse_indices: Ncontext_sparse * int64; context_sparse_values: context_sparse_types; context_sparse_shapes: Ncontext_sparse * int64; context_dense_values: Tcontext_dense; "
	const listOut = "feature_list_sparse_indices: Nfeature_list_sparse * int64; feature_list_sparse_values: feature_list_sparse_types; feature_list_sparse_shapes: Nfeature_list_sparse * int64; feature_list_dense_values: feature_list_dense_types"
	const lengths = "; feature_list_dense_lengths: Nfeature_list_dense * int64"
	const types = "context_sparse_types: " + values + "; Tcontext_dense: " + values + "; feature_list_dense_types: " + values +
		"; context_dense_shapes: list(shape) >= 0 = []; feature_list_sparse_types: " + values + "; feature_list_dense_shapes: list(shape) >= 0 = []"
	const counts = "Ncontext_sparse: int >= 0 = 0; Ncontext_dense: int >= 0 = 0; Nfeature_list_sparse: int >= 0 = 0; Nfeature_list_dense: int >= 0 = 0; "
	register("ParseSequenceExample", "serialized: string; debug_name: string; context_dense_defaults: Tcontext_dense", contextOut+listOut+lengths,
		"feature_list_dense_missing_assumed_empty: list(string) >= 0; context_sparse_keys: list(string) >= 0; context_dense_keys: list(string) >= 0; feature_list_sparse_keys: list(string) >= 0; feature_list_dense_keys: list(string) >= 0; "+counts+types,
		sequenceShape, core.AnyType(sequenceParser(attrSequence)))
	register("ParseSequenceExampleV2", "serialized: string; debug_name: string; context_sparse_keys: string; context_dense_keys: string; context_ragged_keys: string; "+
		"feature_list_sparse_keys: string; feature_list_dense_keys: string; feature_list_ragged_keys: string; feature_list_dense_missing_assumed_empty: bool; context_dense_defaults: Tcontext_dense",
		contextOut+"context_ragged_values: context_ragged_value_types; context_ragged_row_splits: context_ragged_split_types; "+listOut+lengths+
			"; feature_list_ragged_values: feature_list_ragged_value_types; feature_list_ragged_outer_splits: feature_list_ragged_split_types; feature_list_ragged_inner_splits: feature_list_ragged_split_types",
		"Ncontext_sparse: int >= 0 = 0; Tcontext_dense: "+values+"; context_sparse_types: "+values+"; context_ragged_value_types: "+values+"; context_ragged_split_types: "+splits+
			"; context_dense_shapes: list(shape) >= 0 = []; Nfeature_list_sparse: int >= 0 = 0; Nfeature_list_dense: int >= 0 = 0; feature_list_dense_types: "+values+
			"; feature_list_sparse_types: "+values+"; feature_list_ragged_value_types: "+values+"; feature_list_ragged_split_types: "+splits+"; feature_list_dense_shapes: list(shape) >= 0 = []",
		sequenceShape, core.AnyType(sequenceParser(inputSequence)))
	register("ParseSingleSequenceExample", "serialized: string; feature_list_dense_missing_assumed_empty: string; context_sparse_keys: Ncontext_sparse * string; context_dense_keys: Ncontext_dense * string; "+
		"feature_list_sparse_keys: Nfeature_list_sparse * string; feature_list_dense_keys: Nfeature_list_dense * string; context_dense_defaults: Tcontext_dense; debug_name: string", contextOut+listOut,
		counts+types, sequenceShape, core.AnyType(sequenceParser(singleSequence)))
}

// A SequenceSpec says what to parse of sequences: features of their contexts,
// and lists of features, of which there is one a step. The shapes of dense lists
// are those of a step; their defaults only tell their types.
type SequenceSpec struct {
	Dense  []Dense
	Sparse []Sparse
	Ragged []Ragged

	DenseLists   []Dense
	SparseLists  []Sparse
	RaggedLists  []Ragged
	MayBeMissing []bool // by dense list: then it counts as one without steps; nil: none may
}

// ParseSequenceExampleV2 parses sequences, serialized tf.SequenceExample
// messages in a vector or a scalar. The names, of the same shape or none, are
// for messages. The outputs are in the order of the op's definition. Dense
// results have the shape of serialized in front; dense lists have a dimension
// for the steps behind that, as many as the longest example has, filled up
// with zeros or empty strings. Errors are INVALID_ARGUMENT in the step: a text
// that is no tf.SequenceExample, a dense feature without a default or a dense
// list that is missing unless MayBeMissing allows it, another type, or a
// number of values that does not fit the shape. A serialized of two dimensions
// or more is refused when the graph is built if its shape is known.
func ParseSequenceExampleV2(serialized, names tf.Output, s SequenceSpec, opts ...tf.Option) []tf.Output {
	g := serialized.Graph()
	missing := core.Make[bool](len(s.DenseLists))
	copy(missing, s.MayBeMissing)
	in := []tf.Output{serialized, names}
	for _, keys := range [][]string{sparseKeys(s.Sparse), denseKeys(s.Dense), raggedKeys(s.Ragged), sparseKeys(s.SparseLists), denseKeys(s.DenseLists), raggedKeys(s.RaggedLists)} {
		in = append(in, ops.Const(g, keys))
	}
	types, splits := raggedAttrs(s.Ragged)
	listTypes, listSplits := raggedAttrs(s.RaggedLists)
	o := tf.Apply(nil, "ParseSequenceExampleV2", slices.Concat(in, []tf.Output{ops.Const(g, missing)}, defaults(s.Dense)), slices.Concat(s.attrs(), []tf.Option{
		tf.Attr("context_ragged_value_types", types), tf.Attr("context_ragged_split_types", splits),
		tf.Attr("feature_list_ragged_value_types", listTypes), tf.Attr("feature_list_ragged_split_types", listSplits),
	}, opts)...)
	return outputsOf(o, 3*len(s.Sparse)+len(s.Dense)+2*len(s.Ragged)+3*len(s.SparseLists)+2*len(s.DenseLists)+3*len(s.RaggedLists))
}

// ParseSequenceExample is the first form of [ParseSequenceExampleV2], without
// ragged features. Errors are those of ParseSequenceExampleV2.
func ParseSequenceExample(serialized, names tf.Output, s SequenceSpec, opts ...tf.Option) []tf.Output {
	o := tf.Apply(nil, "ParseSequenceExample", append([]tf.Output{serialized, names}, defaults(s.Dense)...), slices.Concat(s.attrs(), []tf.Option{
		tf.Attr("Ncontext_dense", len(s.Dense)), tf.Attr("feature_list_dense_missing_assumed_empty", s.absent()),
		tf.Attr("context_sparse_keys", sparseKeys(s.Sparse)), tf.Attr("context_dense_keys", denseKeys(s.Dense)),
		tf.Attr("feature_list_sparse_keys", sparseKeys(s.SparseLists)), tf.Attr("feature_list_dense_keys", denseKeys(s.DenseLists)),
	}, opts)...)
	return outputsOf(o, 3*len(s.Sparse)+len(s.Dense)+3*len(s.SparseLists)+2*len(s.DenseLists))
}

// ParseSingleSequenceExample parses one sequence, a scalar, whose name is a
// scalar too. There are no ragged features, and no lengths of dense lists. A
// serialized that is no scalar is refused with INVALID_ARGUMENT in the step;
// other errors are those of ParseSequenceExampleV2.
func ParseSingleSequenceExample(serialized, name tf.Output, s SequenceSpec, opts ...tf.Option) []tf.Output {
	g := serialized.Graph()
	in := []tf.Output{serialized, ops.Const(g, s.absent())}
	for _, keys := range [][]string{sparseKeys(s.Sparse), denseKeys(s.Dense), sparseKeys(s.SparseLists), denseKeys(s.DenseLists)} {
		in = append(in, each(keys, func(k string) tf.Output { return ops.Scalar(g, k) })...)
	}
	o := tf.Apply(nil, "ParseSingleSequenceExample", slices.Concat(in, defaults(s.Dense), []tf.Output{name}), slices.Concat(s.attrs(), []tf.Option{tf.Attr("Ncontext_dense", len(s.Dense))}, opts)...)
	return outputsOf(o, 3*len(s.Sparse)+len(s.Dense)+3*len(s.SparseLists)+len(s.DenseLists))
}

// attrs are the attributes that all three ops have.
func (s *SequenceSpec) attrs() []tf.Option {
	return []tf.Option{
		tf.Attr("Ncontext_sparse", len(s.Sparse)), tf.Attr("context_sparse_types", sparseAttr(s.Sparse)), tf.Attr("context_dense_shapes", shapesAttr(s.Dense)),
		tf.Attr("Nfeature_list_sparse", len(s.SparseLists)), tf.Attr("feature_list_sparse_types", sparseAttr(s.SparseLists)),
		tf.Attr("Nfeature_list_dense", len(s.DenseLists)), tf.Attr("feature_list_dense_shapes", shapesAttr(s.DenseLists)), tf.Attr("feature_list_dense_types", typesAttr(s.DenseLists)),
	}
}

// absent returns the keys of the dense lists that may be missing.
func (s *SequenceSpec) absent() []string {
	keys := []string{}
	for i, may := range s.MayBeMissing {
		if may && i < len(s.DenseLists) {
			keys = append(keys, s.DenseLists[i].Key)
		}
	}
	return keys
}

// outputsOf returns the outputs of an operation, which carry its error.
func outputsOf(o *tf.Operation, n int) []tf.Output {
	out := make([]tf.Output, n)
	for i := range out {
		out[i] = o.Output(i)
	}
	return out
}

func sparseKeys(s []Sparse) []string { return each(s, func(x Sparse) string { return x.Key }) }

func denseKeys(s []Dense) []string { return each(s, func(x Dense) string { return x.Key }) }

func raggedKeys(s []Ragged) []string { return each(s, func(x Ragged) string { return x.Key }) }

func sparseAttr(s []Sparse) []tf.DType { return each(s, func(x Sparse) tf.DType { return x.Type }) }

func shapesAttr(s []Dense) []tf.Shape { return each(s, func(x Dense) tf.Shape { return x.Shape }) }

func typesAttr(s []Dense) []tf.DType {
	return each(s, func(x Dense) tf.DType { return x.Default.DType() })
}

func raggedAttrs(s []Ragged) (types, splits []tf.DType) {
	return each(s, func(x Ragged) tf.DType { return x.Type }), each(s, func(x Ragged) tf.DType { return x.Splits })
}

func each[A, B any](in []A, f func(A) B) []B {
	out := make([]B, len(in))
	for i, x := range in {
		out[i] = f(x)
	}
	return out
}

// sequenceShape: what is known is how many dimensions there are.
func sequenceShape(c *core.Infer) error {
	if s := c.In(0); len(s) > 1 {
		return tf.Errorf(tf.InvalidArgument, "Shape must be at most rank 1 but is rank %d", len(s))
	}
	return nil
}

// sequenceKeys are the keys of all that is parsed of sequences.
type sequenceKeys struct {
	dense, sparse, ragged                      []string // of the context
	denseLists, sparseLists, raggedLists       []string
	mayBeMissing                               func(i int, key string) bool
	names                                      []string
	defaults                                   int // where the defaults begin in the inputs
	raggedTypes, splits, listTypes, listSplits []tf.DType
	single                                     bool
}

// attrSequence reads the keys of ParseSequenceExample.
func attrSequence(c *core.OpContext) (k sequenceKeys, err error) {
	list := func(name string) []string { v, _ := c.Node.Attr(name).([]string); return v }
	k.dense, k.sparse = list("context_dense_keys"), list("context_sparse_keys")
	k.denseLists, k.sparseLists = list("feature_list_dense_keys"), list("feature_list_sparse_keys")
	missing := list("feature_list_dense_missing_assumed_empty")
	k.mayBeMissing = func(_ int, key string) bool { return slices.Contains(missing, key) }
	k.names, k.defaults = core.Data[string](c.Input(1)), 2
	return k, nil
}

// inputSequence reads the keys of ParseSequenceExampleV2.
func inputSequence(c *core.OpContext) (k sequenceKeys, err error) {
	in := func(i int) []string { return core.Data[string](c.Input(i)) }
	k.names, k.sparse, k.dense, k.ragged, k.sparseLists, k.denseLists, k.raggedLists = in(1), in(2), in(3), in(4), in(5), in(6), in(7)
	missing := core.Data[bool](c.Input(8))
	if len(missing) != len(k.denseLists) {
		return k, tf.Errorf(tf.InvalidArgument, "Expected len(feature_list_dense_missing_assumed_empty) == %d, but got: %d", len(k.denseLists), len(missing))
	}
	k.mayBeMissing = func(i int, _ string) bool { return missing[i] }
	k.defaults = 9
	k.raggedTypes, k.splits = c.Node.TypesAttr("context_ragged_value_types"), c.Node.TypesAttr("context_ragged_split_types")
	k.listTypes, k.listSplits = c.Node.TypesAttr("feature_list_ragged_value_types"), c.Node.TypesAttr("feature_list_ragged_split_types")
	return k, nil
}

// singleSequence reads the keys of ParseSingleSequenceExample.
func singleSequence(c *core.OpContext) (k sequenceKeys, err error) {
	at := 2
	for _, l := range []struct {
		keys *[]string
		num  string
	}{{&k.sparse, "Ncontext_sparse"}, {&k.dense, "Ncontext_dense"}, {&k.sparseLists, "Nfeature_list_sparse"}, {&k.denseLists, "Nfeature_list_dense"}} {
		for range c.Node.Int(l.num) {
			if c.Input(at).Len() != 1 {
				return k, tf.Errorf(tf.InvalidArgument, "a key must be a scalar, got shape %s", c.Input(at).Shape().String())
			}
			*l.keys = append(*l.keys, core.Data[string](c.Input(at))[0])
			at++
		}
	}
	missing := core.Data[string](c.Input(1))
	k.mayBeMissing = func(_ int, key string) bool { return slices.Contains(missing, key) }
	k.names, k.defaults, k.single = core.Data[string](c.Input(c.Inputs()-1)), at, true
	return k, nil
}

// sequenceParser makes the factory of the kernels.
func sequenceParser(read func(*core.OpContext) (sequenceKeys, error)) core.NewKernel {
	return func(*core.Node) (core.Kernel, error) {
		return core.Compute(func(c *core.OpContext) error {
			k, err := read(c)
			if err != nil {
				return err
			}
			s := c.Input(0).Shape()
			if len(s) > 1 || k.single && len(s) > 0 {
				return tf.Errorf(tf.InvalidArgument, "Expected serialized to be a scalar or vector, got shape: %s", s.String())
			}
			b := &batch{c: c, examples: core.Data[string](c.Input(0)), single: len(s) == 0, lists: []list{}}
			if len(k.names) == len(b.examples) {
				b.names = k.names
			}
			if err := b.describe(k); err != nil {
				return err
			}
			return b.parse()
		}), nil
	}
}

// describe says what is to be parsed, in the order of the outputs.
func (b *batch) describe(k sequenceKeys) error {
	n := b.c.Node
	shapes, _ := n.Attr("context_dense_shapes").([]tf.Shape)
	stepShapes, _ := n.Attr("feature_list_dense_shapes").([]tf.Shape)
	types, sparseTypes := n.TypesAttr("Tcontext_dense"), n.TypesAttr("context_sparse_types")
	listTypes, sparseLists := n.TypesAttr("feature_list_dense_types"), n.TypesAttr("feature_list_sparse_types")
	hasLengths := !strings.Contains(n.OpName(), "Single")
	want := 3*len(k.sparse) + len(k.dense) + 2*len(k.ragged) + 3*len(k.sparseLists) + len(k.denseLists) + 3*len(k.raggedLists)
	if hasLengths {
		want += len(k.denseLists)
	}
	for _, c := range [][2]int{
		{len(types), len(k.dense)}, {len(shapes), len(k.dense)}, {len(sparseTypes), len(k.sparse)}, {len(k.raggedTypes), len(k.ragged)}, {len(k.splits), len(k.ragged)},
		{len(listTypes), len(k.denseLists)}, {len(stepShapes), len(k.denseLists)}, {len(sparseLists), len(k.sparseLists)}, {len(k.listTypes), len(k.raggedLists)}, {len(k.listSplits), len(k.raggedLists)},
		{len(b.c.Out), want}, {b.c.Inputs(), max(b.c.Inputs(), k.defaults+len(k.dense))},
	} {
		if c[0] != c[1] {
			return tf.Errorf(tf.InvalidArgument, "there must be as many types and shapes as keys, got %d for %d", c[0], c[1])
		}
	}
	out := 0
	for i, key := range k.sparse {
		b.sparse = append(b.sparse, feature{name: key, dtype: sparseTypes[i], out: i, values: len(k.sparse) + i, shapes: 2*len(k.sparse) + i})
	}
	out += 3 * len(k.sparse)
	for i, key := range k.dense {
		f := feature{name: key, dtype: types[i], shape: shapes[i], def: b.c.Input(k.defaults + i), out: out + i}
		if err := f.checkDefault(i); err != nil {
			return err
		}
		b.dense = append(b.dense, f)
	}
	out += len(k.dense)
	for i, key := range k.ragged {
		b.ragged = append(b.ragged, feature{name: key, dtype: k.raggedTypes[i], splits: k.splits[i], out: out + i, values: out + len(k.ragged) + i})
	}
	return b.describeLists(k, out+2*len(k.ragged), sparseLists, listTypes, stepShapes, hasLengths)
}

// describeLists says which lists are to be parsed. Their outputs are those from
// out on.
func (b *batch) describeLists(k sequenceKeys, out int, sparse, dense []tf.DType, shapes []tf.Shape, lengths bool) error {
	add := func(form form, n, i int, key string, d tf.DType) *list {
		b.lists = append(b.lists, list{feature: feature{name: key, dtype: d, out: out + i, values: out + n + i, shapes: out + 2*n + i}, form: form})
		return &b.lists[len(b.lists)-1]
	}
	for i, key := range k.sparseLists {
		add(sparseForm, len(k.sparseLists), i, key, sparse[i])
	}
	out += 3 * len(k.sparseLists)
	for i, key := range k.denseLists {
		if !shapes[i].Known() || core.CheckSize(dense[i], shapes[i]) != nil {
			return tf.Errorf(tf.InvalidArgument, "feature_list_dense_shapes[%d] must be known, got %s", i, shapes[i].String())
		}
		l := add(denseForm, len(k.denseLists), i, key, dense[i])
		l.shape, l.lengths, l.mayBeAbsent = shapes[i], lengths, k.mayBeMissing(i, key)
	}
	out += len(k.denseLists)
	if lengths {
		out += len(k.denseLists)
	}
	for i, key := range k.raggedLists {
		add(raggedForm, len(k.raggedLists), i, key, k.listTypes[i]).splits = k.listSplits[i]
	}
	return nil
}
