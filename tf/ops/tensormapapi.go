package ops

import "github.com/gorge-tf/gorge/tf"

// EmptyTensorMap returns a map from tensors to tensors without entries.
func EmptyTensorMap(g *tf.Graph, opts ...tf.Option) tf.Output {
	return tf.Apply(g, "EmptyTensorMap", nil, opts...).Output(0)
}

// TensorMapSize returns the number of entries of map m.
func TensorMapSize(m tf.Output, opts ...tf.Option) tf.Output { return apply("TensorMapSize", opts, m) }

// TensorMapInsert returns map m with value at key.
func TensorMapInsert(m, key, value tf.Output, opts ...tf.Option) tf.Output {
	return apply("TensorMapInsert", opts, m, key, value)
}

// TensorMapLookup returns the value, of type d, that map m has at key. It fails
// if there is none.
func TensorMapLookup(m, key tf.Output, d tf.DType, opts ...tf.Option) tf.Output {
	return apply("TensorMapLookup", tf.Join(opts, tf.Attr("value_dtype", d)), m, key)
}

// TensorMapErase returns map m, the values of which have type d, without key. It
// fails if that is not there.
func TensorMapErase(m, key tf.Output, d tf.DType, opts ...tf.Option) tf.Output {
	return apply("TensorMapErase", tf.Join(opts, tf.Attr("value_dtype", d)), m, key)
}

// TensorMapHasKey reports whether map m has a value at key.
func TensorMapHasKey(m, key tf.Output, opts ...tf.Option) tf.Output {
	return apply("TensorMapHasKey", opts, m, key)
}

// TensorMapStackKeys returns the keys of map m, of type d and of equal shapes,
// as the rows of a tensor. It fails if there are none.
func TensorMapStackKeys(m tf.Output, d tf.DType, opts ...tf.Option) tf.Output {
	return apply("TensorMapStackKeys", tf.Join(opts, tf.Attr("key_dtype", d)), m)
}

// mapLookupGrad is a map of the one gradient.
func mapLookupGrad(op *tf.Operation, dy []tf.Output) []tf.Gradient {
	return tf.Grads(TensorMapInsert(EmptyTensorMap(dy[0].Graph()), op.Input(1), dy[0]), tf.Output{})
}

// mapInsertGrad takes the value's gradient out of the map's.
func mapInsertGrad(op *tf.Operation, dy []tf.Output) []tf.Gradient {
	key, value, d := op.Input(1), op.Input(2), op.Input(2).DType().Base()
	both := tf.Cond(TensorMapHasKey(dy[0], key),
		func() []tf.Output { return []tf.Output{TensorMapLookup(dy[0], key, d), TensorMapErase(dy[0], key, d)} },
		func() []tf.Output { return []tf.Output{ZerosLike(value), Identity(dy[0])} })
	if len(both) != 2 { // what failed carries the error
		return tf.Grads(both[0], tf.Output{}, both[0])
	}
	return tf.Grads(both[1], tf.Output{}, both[0])
}

func mapEraseGrad(_ *tf.Operation, dy []tf.Output) []tf.Gradient {
	return tf.Grads(dy[0], tf.Output{})
}
