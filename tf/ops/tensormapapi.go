package ops

import "github.com/gorge-tf/gorge/tf"

// EmptyTensorMap returns a map from tensors to tensors without entries. The
// map is a variant scalar. Other operations do not change it but return
// another map. A nil g is refused with INVALID_ARGUMENT.
func EmptyTensorMap(g *tf.Graph, opts ...tf.Option) tf.Output {
	return tf.Apply(g, "EmptyTensorMap", nil, opts...).Output(0)
}

// TensorMapSize returns the number of entries of map m. The result is an int32
// scalar. The step fails with INVALID_ARGUMENT if m is not a scalar that holds
// a map.
func TensorMapSize(m tf.Output, opts ...tf.Option) tf.Output { return apply("TensorMapSize", opts, m) }

// TensorMapInsert returns map m with value at key. An entry of an equal key is
// replaced; keys are equal if type, shape and all elements are, floating-point
// numbers bit by bit. The step fails with INVALID_ARGUMENT if m is not a
// scalar that holds a map, or if key holds resource handles or variants.
func TensorMapInsert(m, key, value tf.Output, opts ...tf.Option) tf.Output {
	return apply("TensorMapInsert", opts, m, key, value)
}

// TensorMapLookup returns the value, of type d, that map m has at key. It
// fails if there is none, and if the value has another type: with
// INVALID_ARGUMENT in the step, as for what TensorMapInsert refuses. Nothing
// is known of the result's shape when the graph is built.
func TensorMapLookup(m, key tf.Output, d tf.DType, opts ...tf.Option) tf.Output {
	return apply("TensorMapLookup", tf.Join(opts, tf.Attr("value_dtype", d)), m, key)
}

// TensorMapErase returns map m, the values of which have type d, without key.
// It fails if that is not there: with INVALID_ARGUMENT in the step, as for
// what TensorMapInsert refuses. The type of the value is not compared with d.
func TensorMapErase(m, key tf.Output, d tf.DType, opts ...tf.Option) tf.Output {
	return apply("TensorMapErase", tf.Join(opts, tf.Attr("value_dtype", d)), m, key)
}

// TensorMapHasKey reports whether map m has a value at key. The result is a
// bool scalar. The step fails with INVALID_ARGUMENT for what TensorMapInsert
// refuses.
func TensorMapHasKey(m, key tf.Output, opts ...tf.Option) tf.Output {
	return apply("TensorMapHasKey", opts, m, key)
}

// TensorMapStackKeys returns the keys of map m, of type d and of equal shapes,
// as the rows of a tensor. It fails if there are none, if a key has another
// type, and if shapes differ: with INVALID_ARGUMENT in the step. The keys come
// in the order in which they were inserted.
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
