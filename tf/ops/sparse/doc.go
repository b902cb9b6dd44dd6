// Package sparse has the operations of tf.sparse and tf.sets, on tensors given as indices, values and a dense shape.
package sparse
