// Package data has the datasets and iterators of tf.data.
package data
