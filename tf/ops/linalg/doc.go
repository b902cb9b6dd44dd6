// Package linalg has the operations of tf.linalg: factorizations, solvers, determinants and functions of matrices, in batches.
package linalg
