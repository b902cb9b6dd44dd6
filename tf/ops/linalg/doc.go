// Package linalg has the operations of tf.linalg: factorizations, solvers, determinants and
// functions of matrices, in batches, and its linear operators.
package linalg
