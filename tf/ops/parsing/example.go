package parsing

import (
	"slices"

	"github.com/gorge-tf/gorge/internal/sample"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/ops"
)

func init() {
	const values = "{float, int64, string}"
	const lists = "sparse_types: list(" + values + ") >= 0; Tdense: list(" + values + ") >= 0; dense_shapes: list(shape) >= 0"
	register("ParseExample", "serialized: string; names: string; sparse_keys: Nsparse * string; dense_keys: Ndense * string; dense_defaults: Tdense",
		"sparse_indices: Nsparse * int64; sparse_values: sparse_types; sparse_shapes: Nsparse * int64; dense_values: Tdense",
		"Nsparse: int >= 0; Ndense: int >= 0; "+lists, exampleShape("Nsparse"), core.AnyType(parser(firstKeys)))
	register("ParseExampleV2", "serialized: string; names: string; sparse_keys: string; dense_keys: string; ragged_keys: string; dense_defaults: Tdense",
		"sparse_indices: num_sparse * int64; sparse_values: sparse_types; sparse_shapes: num_sparse * int64; dense_values: Tdense; ragged_values: ragged_value_types; ragged_row_splits: ragged_split_types",
		"Tdense: list("+values+") >= 0; num_sparse: int >= 0; sparse_types: list("+values+") >= 0; ragged_value_types: list("+values+") >= 0; ragged_split_types: list({int32, int64}) >= 0; dense_shapes: list(shape) >= 0",
		exampleShape("num_sparse"), core.AnyType(parser(secondKeys)))
	register("ParseSingleExample", "serialized: string; dense_defaults: Tdense",
		"sparse_indices: num_sparse * int64; sparse_values: sparse_types; sparse_shapes: num_sparse * int64; dense_values: Tdense",
		"num_sparse: int >= 0; sparse_keys: list(string) >= 0; dense_keys: list(string) >= 0; "+lists, exampleShape("num_sparse"), core.AnyType(parser(attrKeys)))
}

// A Dense feature has, in every example, values for a tensor of one shape. Its
// first size may be open; then Default, of one element, pads what is shorter.
type Dense struct {
	Key     string
	Shape   tf.Shape
	Default tf.Output // a vector without elements: it must not be missing
}

// A Sparse feature has any number of values of a type.
type Sparse struct {
	Key  string
	Type tf.DType
}

// A Ragged feature has any number of values of a type. Its row splits are int32
// or int64.
type Ragged struct {
	Key          string
	Type, Splits tf.DType
}

// SparseResult is a sparse tensor of values.
type SparseResult struct{ Indices, Values, Shape tf.Output }

// RaggedResult is a ragged tensor of values.
type RaggedResult struct{ Values, Splits tf.Output }

// Parsed is what becomes of features, in the order in which they are asked for.
type Parsed struct {
	Dense  []tf.Output
	Sparse []SparseResult
	Ragged []RaggedResult
}

// ParseExampleV2 parses examples, serialized tf.Example messages in a vector
// or a scalar. The names, of the same shape or none, are for messages. The
// features are of types float32, int64 or string. Each dense result has the
// shape of serialized and behind it that of its feature; a sparse result has a
// dimension for the example and one for the value, or the latter only for a
// scalar. A dense feature that is missing takes its default. All errors are
// INVALID_ARGUMENT in the step: a text that is no tf.Example, a dense feature
// that is missing and has no default, a feature of another type, or a number
// of values that does not fit the shape. Only a number of dimensions of
// serialized above one is refused when the graph is built, if it is known.
func ParseExampleV2(serialized, names tf.Output, dense []Dense, sparse []Sparse, ragged []Ragged, opts ...tf.Option) Parsed {
	g := serialized.Graph()
	in := []tf.Output{serialized, names, ops.Const(g, sparseKeys(sparse)), ops.Const(g, denseKeys(dense)), ops.Const(g, raggedKeys(ragged))}
	types, splits := raggedAttrs(ragged)
	opts = append(featureAttrs(dense, sparse), tf.Join(opts, tf.Attr("num_sparse", len(sparse)), tf.Attr("ragged_value_types", types), tf.Attr("ragged_split_types", splits))...)
	return results(tf.Apply(nil, "ParseExampleV2", append(in, defaults(dense)...), opts...), len(dense), len(sparse), len(ragged))
}

// ParseExample is the first form of [ParseExampleV2]: without ragged features,
// and for a vector of examples. A scalar is refused with INVALID_ARGUMENT,
// when the graph is built if its shape is known, else in the step. Errors are
// those of ParseExampleV2.
func ParseExample(serialized, names tf.Output, dense []Dense, sparse []Sparse, opts ...tf.Option) Parsed {
	key := func(s string) tf.Output { return ops.Scalar(serialized.Graph(), s) }
	in := slices.Concat([]tf.Output{serialized, names}, each(sparseKeys(sparse), key), each(denseKeys(dense), key), defaults(dense))
	opts = append(featureAttrs(dense, sparse), tf.Join(opts, tf.Attr("Nsparse", len(sparse)), tf.Attr("Ndense", len(dense)))...)
	return results(tf.Apply(nil, "ParseExample", in, opts...), len(dense), len(sparse), 0)
}

// ParseSingleExample parses one example, a scalar. Sparse tensors have one
// dimension. A dense result has the shape of its feature. Any other shape of
// serialized is refused with INVALID_ARGUMENT, when the graph is built if it
// is known, else in the step. Errors are those of ParseExampleV2.
func ParseSingleExample(serialized tf.Output, dense []Dense, sparse []Sparse, opts ...tf.Option) Parsed {
	opts = append(featureAttrs(dense, sparse), tf.Join(opts, tf.Attr("num_sparse", len(sparse)), tf.Attr("sparse_keys", sparseKeys(sparse)), tf.Attr("dense_keys", denseKeys(dense)))...)
	return results(tf.Apply(nil, "ParseSingleExample", append([]tf.Output{serialized}, defaults(dense)...), opts...), len(dense), len(sparse), 0)
}

func defaults(dense []Dense) []tf.Output {
	return each(dense, func(d Dense) tf.Output { return d.Default })
}

func featureAttrs(dense []Dense, sparse []Sparse) []tf.Option {
	return []tf.Option{tf.Attr("sparse_types", sparseAttr(sparse)), tf.Attr("dense_shapes", shapesAttr(dense))}
}

func results(o *tf.Operation, dense, sparse, ragged int) Parsed {
	var p Parsed
	for i := range sparse {
		p.Sparse = append(p.Sparse, SparseResult{o.Output(i), o.Output(sparse + i), o.Output(2*sparse + i)})
	}
	at := 3 * sparse
	for i := range dense {
		p.Dense = append(p.Dense, o.Output(at+i))
	}
	at += dense
	for i := range ragged {
		p.Ragged = append(p.Ragged, RaggedResult{o.Output(at + i), o.Output(at + ragged + i)})
	}
	return p
}

// exampleShape is the shape function of the ops; num names the attribute with
// the number of sparse features.
func exampleShape(num string) func(*core.Infer) error {
	return func(c *core.Infer) error {
		shapes, _ := c.Attr("dense_shapes").([]tf.Shape)
		sparse, in, rank := c.Int(num), c.In(0), -1
		if in != nil {
			rank = len(in)
		}
		switch {
		case c.OpName() == "ParseSingleExample" && rank > 0, rank > 1:
			return tf.Errorf(tf.InvalidArgument, "Shape must be at most rank 1 but is rank %d", rank)
		case c.OpName() == "ParseExample" && rank == 0:
			return tf.Errorf(tf.InvalidArgument, "Shape must be rank 1 but is rank 0")
		case c.OpName() == "ParseSingleExample":
			in, rank = tf.Shape{}, 0
		}
		for i := range sparse {
			if rank >= 0 {
				c.Set(i, tf.Shape{-1, rank + 1})
				c.Set(2*sparse+i, tf.Shape{rank + 1})
			}
			c.Set(sparse+i, tf.Shape{-1})
		}
		for i, s := range shapes {
			if in != nil && s != nil && 3*sparse+i < c.NumOut() {
				c.Set(3*sparse+i, append(in.Clone(), s...))
			}
		}
		for i := 3*sparse + len(shapes); i < c.NumOut(); i++ {
			c.Set(i, tf.Shape{-1})
		}
		return nil
	}
}

// keysOf reads the keys of dense, sparse and ragged features from a node and its inputs,
// and says where the defaults begin among these.
type keysOf func(n *core.Node, in sample.Inputs) (dense, sparse, ragged []string, at int, err error)

func attrKeys(n *core.Node, _ sample.Inputs) (dense, sparse, ragged []string, at int, err error) {
	dense, _ = n.Attr("dense_keys").([]string)
	sparse, _ = n.Attr("sparse_keys").([]string)
	return dense, sparse, nil, 1, nil
}

func firstKeys(n *core.Node, in sample.Inputs) (dense, sparse, ragged []string, at int, err error) {
	ns, nd := n.Int("Nsparse"), n.Int("Ndense")
	keys := core.Make[string](ns + nd)
	for i := range keys {
		k := in.Input(2 + i)
		if k.Len() != 1 {
			return nil, nil, nil, 0, tf.Errorf(tf.InvalidArgument, "a key must be a scalar, got shape %s", k.Shape().String())
		}
		keys[i] = core.Data[string](k)[0]
	}
	return keys[ns:], keys[:ns], nil, 2 + ns + nd, nil
}

func secondKeys(_ *core.Node, in sample.Inputs) (dense, sparse, ragged []string, at int, err error) {
	return core.Data[string](in.Input(3)), core.Data[string](in.Input(2)), core.Data[string](in.Input(4)), 5, nil
}

// parser makes the factory of the kernels.
func parser(keys keysOf) core.NewKernel {
	return func(n *core.Node) (core.Kernel, error) {
		single := n.OpName() == "ParseSingleExample"
		return core.Compute(func(c *core.OpContext) error {
			b := &batch{c: c, examples: core.Data[string](c.Input(0)), single: c.Input(0).Rank() == 0}
			if err := checkExamples(c, b, single); err != nil {
				return err
			}
			dense, sparse, ragged, at, err := keys(c.Node, c)
			if err != nil {
				return err
			}
			if err := b.features(dense, sparse, ragged, at); err != nil {
				return err
			}
			return b.parse()
		}), nil
	}
}

func checkExamples(c *core.OpContext, b *batch, single bool) error {
	s := c.Input(0).Shape()
	switch {
	case single && len(s) != 0:
		return tf.Errorf(tf.InvalidArgument, "Expected serialized to be a scalar, got shape: %s", s.String())
	case len(s) > 1:
		return tf.Errorf(tf.InvalidArgument, "Expected serialized to be a scalar or vector, got shape: %s", s.String())
	case !single && c.Node.OpName() == "ParseExample" && len(s) != 1:
		return tf.Errorf(tf.InvalidArgument, "Expected serialized to be a vector, got shape: %s", s.String())
	case single:
		return nil
	}
	names := c.Input(1)
	if names.Len() > 0 && !names.Shape().Equal(s) {
		return tf.Errorf(tf.InvalidArgument, "Expected names have the same shape as serialized: name.shape=%s, serialized.shape=%s", names.Shape().String(), s.String())
	}
	b.names = core.Data[string](names)
	return nil
}

// features describes what is to be parsed. The defaults are inputs from at on.
func (b *batch) features(dense, sparse, ragged []string, at int) error {
	n := b.c.Node
	shapes, _ := n.Attr("dense_shapes").([]tf.Shape)
	denseTypes, sparseTypes := n.TypesAttr("Tdense"), n.TypesAttr("sparse_types")
	var raggedTypes, splits []tf.DType
	if n.OpName() == "ParseExampleV2" {
		raggedTypes, splits = n.TypesAttr("ragged_value_types"), n.TypesAttr("ragged_split_types")
	}
	for _, c := range []struct {
		what       string
		have, want int
	}{
		{"dense_keys", len(dense), len(denseTypes)}, {"dense_shapes", len(shapes), len(denseTypes)}, {"sparse_keys", len(sparse), len(sparseTypes)},
		{"ragged_keys", len(ragged), len(raggedTypes)}, {"ragged_split_types", len(splits), len(raggedTypes)},
		{"outputs", len(b.c.Out), 3*len(sparse) + len(dense) + 2*len(ragged)},
	} {
		if c.have != c.want {
			return tf.Errorf(tf.InvalidArgument, "Expected len(%s) == %d, but got: %d", c.what, c.want, c.have)
		}
	}
	for i, key := range sparse {
		b.sparse = append(b.sparse, feature{name: key, dtype: sparseTypes[i], out: i, values: len(sparse) + i, shapes: 2*len(sparse) + i})
	}
	out := 3 * len(sparse)
	for i, key := range dense {
		f := feature{name: key, dtype: denseTypes[i], shape: shapes[i], def: b.c.Input(at + i), out: out + i}
		if err := f.checkDefault(i); err != nil {
			return err
		}
		b.dense = append(b.dense, f)
	}
	out += len(dense)
	for i, key := range ragged {
		b.ragged = append(b.ragged, feature{name: key, dtype: raggedTypes[i], splits: splits[i], out: out + i, values: out + len(ragged) + i})
	}
	return nil
}

// checkDefault checks the shape and the default of dense feature i.
func (f *feature) checkDefault(i int) error {
	open := len(f.shape) > 0 && f.shape[0] < 0
	known := f.shape
	if open {
		known = f.shape[1:]
	}
	switch s := f.def.Shape(); {
	case !known.Known() || core.CheckSize(f.dtype, known) != nil || open && known.NumElements() == 0:
		return tf.Errorf(tf.InvalidArgument, "dense_shapes[%d] has unknown rank or unknown inner dimensions: %s", i, f.shape.String())
	case open && f.def.Len() != 1:
		return tf.Errorf(tf.InvalidArgument, "dense_shape[%d] is a variable length shape: %s, therefore def_value[%d] must contain a single element (the padding element).  But its shape is: %s", i, f.shape.String(), i, s.String())
	case !open && f.def.Len() > 0 && !f.shape.Equal(s):
		return tf.Errorf(tf.InvalidArgument, "def_value[%d].shape() == %s is not compatible with dense_shapes_[%d] == %s", i, s.String(), i, f.shape.String())
	}
	return nil
}
