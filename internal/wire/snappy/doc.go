// Package snappy reads and writes Snappy's block format, and TensorFlow's
// streams of such blocks: each with its length, four bytes, the highest first,
// in front.
package snappy
