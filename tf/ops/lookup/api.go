package lookup

import "github.com/gorge-tf/gorge/tf"

// TableOpts are the optional attributes of tables: on one device, tables of
// equal container and shared name are one. Without a shared name a table
// belongs to its node, or to all nodes of its name if UseNodeNameSharing is set.
type TableOpts struct {
	Container, SharedName string
	UseNodeNameSharing    bool
}

// Apply sets the attributes.
func (o TableOpts) Apply(s *tf.Spec) {
	s.Set("container", o.Container)
	s.Set("shared_name", o.SharedName)
	s.Set("use_node_name_sharing", o.UseNodeNameSharing)
}

// DenseOpts are the optional attributes of dense tables: the shape of a value,
// how many buckets there are at first, a power of 2, and how full they may be.
type DenseOpts struct {
	ValueShape        tf.Shape
	InitialNumBuckets int
	MaxLoadFactor     float32
}

// Apply sets the attributes.
func (o DenseOpts) Apply(s *tf.Spec) {
	if o.ValueShape != nil {
		s.Set("value_shape", o.ValueShape)
	}
	if o.InitialNumBuckets != 0 {
		s.Set("initial_num_buckets", o.InitialNumBuckets)
	}
	if o.MaxLoadFactor != 0 {
		s.Set("max_load_factor", o.MaxLoadFactor)
	}
}

func types(key, value tf.DType, opts []tf.Option) []tf.Option {
	return tf.Join(opts, tf.Attr("key_dtype", key), tf.Attr("value_dtype", value))
}

// HashTableV2 adds a table that is filled once, by InitializeTableV2 or
// InitializeTableFromTextFileV2, and returns its handle. Keys and values are
// scalars. Keys are int32, int64 or string; values are float32, float64, int32
// or string, for int64 keys also int64, for string keys also bool or int64.
// Other types are refused with NOT_FOUND in the step, and a shared name that a
// table of other types has with INVALID_ARGUMENT. A lookup before the table is
// filled is refused with FAILED_PRECONDITION. Its options are [TableOpts].
func HashTableV2(g *tf.Graph, key, value tf.DType, opts ...tf.Option) tf.Output {
	return tf.Apply(g, "HashTableV2", nil, types(key, value, opts)...).Output(0)
}

// AnonymousHashTable is HashTableV2 without a name: the table lives as long as
// its handle. Types and errors are those of HashTableV2.
func AnonymousHashTable(g *tf.Graph, key, value tf.DType, opts ...tf.Option) tf.Output {
	return tf.Apply(g, "AnonymousHashTable", nil, types(key, value, opts)...).Output(0)
}

// MutableHashTableV2 adds a table from scalars to scalars that can be changed
// at any time. Keys are int32, int64 or string; values are float32, float64 or
// int32, for int64 keys also int64, string or variant, for string keys also
// bool or int64. Other types are refused with NOT_FOUND in the step, and a
// shared name that a table of other types has with INVALID_ARGUMENT.
// Its options are [TableOpts].
func MutableHashTableV2(g *tf.Graph, key, value tf.DType, opts ...tf.Option) tf.Output {
	return tf.Apply(g, "MutableHashTableV2", nil, types(key, value, opts)...).Output(0)
}

// AnonymousMutableHashTable is MutableHashTableV2 without a name. The table
// lives as long as its handle. Types are those of MutableHashTableV2. Other
// types are refused with NOT_FOUND in the step, a nil g with INVALID_ARGUMENT
// when the graph is built.
func AnonymousMutableHashTable(g *tf.Graph, key, value tf.DType, opts ...tf.Option) tf.Output {
	return tf.Apply(g, "AnonymousMutableHashTable", nil, types(key, value, opts)...).Output(0)
}

// MutableHashTableOfTensorsV2 is MutableHashTableV2 with values that are
// vectors of n elements. Types are those of MutableHashTableV2 without
// variant; others are refused with NOT_FOUND in the step.
// Its options are [TableOpts].
func MutableHashTableOfTensorsV2(g *tf.Graph, key, value tf.DType, n int, opts ...tf.Option) tf.Output {
	return tf.Apply(g, "MutableHashTableOfTensorsV2", nil, tf.Join(types(key, value, opts), tf.Attr("value_shape", tf.Shape{n}))...).Output(0)
}

// AnonymousMutableHashTableOfTensors is MutableHashTableOfTensorsV2 without a
// name. The table lives as long as its handle. Types and errors are those of
// MutableHashTableOfTensorsV2.
func AnonymousMutableHashTableOfTensors(g *tf.Graph, key, value tf.DType, n int, opts ...tf.Option) tf.Output {
	return tf.Apply(g, "AnonymousMutableHashTableOfTensors", nil, tf.Join(types(key, value, opts), tf.Attr("value_shape", tf.Shape{n}))...).Output(0)
}

// MutableDenseHashTableV2 adds a table whose keys and values are scalars or
// vectors. empty and deleted, two keys that are never used, mark buckets. Keys
// are int32, int64 or string; values are float32, float64 or int32, for int64
// keys also bool, int64 or variant, for string keys also bool, int64 or
// resource. Other types are refused with NOT_FOUND in the step. Keys of two
// dimensions or more, marks that are equal or differ in shape, a number of
// buckets that is below 4 or no power of 2, and a load that is not between 0
// and 1 are refused with INVALID_ARGUMENT in the step, a table of more than
// 2^31 elements with RESOURCE_EXHAUSTED.
// Its options are [DenseOpts] and [TableOpts].
func MutableDenseHashTableV2(empty, deleted tf.Output, value tf.DType, opts ...tf.Option) tf.Output {
	return tf.Apply(nil, "MutableDenseHashTableV2", []tf.Output{empty, deleted}, tf.Join(opts, tf.Attr("value_dtype", value))...).Output(0)
}

// AnonymousMutableDenseHashTable is MutableDenseHashTableV2 without a name.
// The table lives as long as its handle. Types and errors are those of
// MutableDenseHashTableV2. Its options are [DenseOpts].
func AnonymousMutableDenseHashTable(empty, deleted tf.Output, value tf.DType, opts ...tf.Option) tf.Output {
	return tf.Apply(nil, "AnonymousMutableDenseHashTable", []tf.Output{empty, deleted}, tf.Join(opts, tf.Attr("value_dtype", value))...).Output(0)
}

// LookupTableFindV2 returns the values of keys, and def for those that the
// table does not have: one value, or one for each key. The result has the
// shape of keys, with the shape of a value in the place of that of a key. Keys
// and def of types other than the table's, and shapes that do not fit, are
// refused with INVALID_ARGUMENT in the step, a table that has not been filled
// with FAILED_PRECONDITION, and a handle without a table with NOT_FOUND. A
// dense table also refuses its empty and deleted keys with INVALID_ARGUMENT.
func LookupTableFindV2(table, keys, def tf.Output, opts ...tf.Option) tf.Output {
	return tf.Apply(nil, "LookupTableFindV2", []tf.Output{table, keys, def}, opts...).Output(0)
}

// LookupTableInsertV2 gives keys values, which replace those that they have.
// The values have the shape of keys, with the shape of a value in the place of
// that of a key. Other types and shapes, and the marks of a dense table as
// keys, are refused with INVALID_ARGUMENT in the step, a table that is filled
// once with UNIMPLEMENTED.
func LookupTableInsertV2(table, keys, values tf.Output, opts ...tf.Option) *tf.Operation {
	return tf.Apply(nil, "LookupTableInsertV2", []tf.Output{table, keys, values}, opts...)
}

// LookupTableRemoveV2 removes keys, as far as the table has them. Keys of
// another type or shape than the table's are refused with INVALID_ARGUMENT in
// the step, a table that is filled once with UNIMPLEMENTED.
func LookupTableRemoveV2(table, keys tf.Output, opts ...tf.Option) *tf.Operation {
	return tf.Apply(nil, "LookupTableRemoveV2", []tf.Output{table, keys}, opts...)
}

// LookupTableSizeV2 returns the number of keys, a scalar of int64. A handle
// without a table is refused with NOT_FOUND in the step.
func LookupTableSizeV2(table tf.Output, opts ...tf.Option) tf.Output {
	return tf.Apply(nil, "LookupTableSizeV2", []tf.Output{table}, opts...).Output(0)
}

// LookupTableExportV2 returns all keys and their values; of a dense table all
// buckets. Both have as many rows as there are entries, in no order to rely
// on; the shape of the values ends with that of one value. Types other than
// the table's are refused with INVALID_ARGUMENT in the step, a table that is
// filled once and has not been filled with ABORTED.
func LookupTableExportV2(table tf.Output, key, value tf.DType, opts ...tf.Option) (keys, values tf.Output) {
	op := tf.Apply(nil, "LookupTableExportV2", []tf.Output{table}, tf.Join(opts, tf.Attr("Tkeys", key), tf.Attr("Tvalues", value))...)
	return op.Output(0), op.Output(1)
}

// LookupTableImportV2 replaces the contents of a table. The entries that it
// had are gone; a dense table takes buckets as LookupTableExportV2 gives them.
// Other types and shapes are refused with INVALID_ARGUMENT in the step. A
// table that is filled once takes entries as InitializeTableV2 does; none at
// all are refused with INVALID_ARGUMENT, and contents other than it has with
// FAILED_PRECONDITION.
func LookupTableImportV2(table, keys, values tf.Output, opts ...tf.Option) *tf.Operation {
	return tf.Apply(nil, "LookupTableImportV2", []tf.Output{table, keys, values}, opts...)
}

// InitializeTableV2 fills a table with two vectors. It fails with
// FAILED_PRECONDITION in the step if the table has other contents already, or
// if a key comes twice with different values. Keys and values that are no
// vectors of one length are refused with INVALID_ARGUMENT, when the graph is
// built if the shapes are known, else in the step; so are, in the step, no
// elements at all, types other than the table's and a table that can be
// changed.
func InitializeTableV2(table, keys, values tf.Output, opts ...tf.Option) *tf.Operation {
	return tf.Apply(nil, "InitializeTableV2", []tf.Output{table, keys, values}, opts...)
}

// TextFileOpts are the optional attributes of InitializeTableFromTextFileV2:
// how many lines are read, all if 0, what separates fields, a tab if empty, and
// what is added to line numbers.
type TextFileOpts struct {
	VocabSize, Offset int
	Delimiter         string
}

// Apply sets the attributes.
func (o TextFileOpts) Apply(s *tf.Spec) {
	if o.VocabSize != 0 {
		s.Set("vocab_size", o.VocabSize)
	}
	if o.Delimiter != "" {
		s.Set("delimiter", o.Delimiter)
	}
	s.Set("offset", o.Offset)
}

// InitializeTableFromTextFileV2 fills a table from the lines of a file. Keys
// and values are the fields of these numbers, or WholeLine or LineNumber. A
// table that is filled already stays as it is. An empty line, one that has too
// few fields, a field that does not spell its type, and fewer lines than
// VocabSize are refused with INVALID_ARGUMENT in the step. So are types that
// do not fit: LineNumber wants int64, WholeLine string or an integer type. A
// file that is not there is refused with NOT_FOUND, one that must not be read
// with PERMISSION_DENIED, a directory with FAILED_PRECONDITION. Its options are [TextFileOpts].
func InitializeTableFromTextFileV2(table, filename tf.Output, key, value int, opts ...tf.Option) *tf.Operation {
	return tf.Apply(nil, "InitializeTableFromTextFileV2", []tf.Output{table, filename}, tf.Join(opts, tf.Attr("key_index", key), tf.Attr("value_index", value))...)
}
