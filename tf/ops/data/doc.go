// Package data has the datasets and iterators of tf.data: ops that describe
// datasets, and ops that go through them. The datasets themselves are in
// internal/dataset.
package data
