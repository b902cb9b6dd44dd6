// Package data has the datasets and iterators of tf.data: ops that describe
// datasets, and ops that go through them. Programs add them by tf.Apply, with the
// names, inputs and attributes that TensorFlow has; pipelines that need not be part
// of a graph are shorter in package tf/data. The datasets themselves are in
// internal/dataset.
package data
