// Package quantize has TensorFlow's operations on quantized numbers: integers
// that stand for a range of floating-point numbers, the ops that turn numbers
// into each other, those that compute with quantized ones, and those that only
// simulate the loss, for training.
package quantize
