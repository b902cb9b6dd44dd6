// Package ragged has the operations of tf.ragged, on tensors whose rows differ in length.
package ragged
