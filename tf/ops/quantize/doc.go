// Package quantize has the operations on quantized tensors.
package quantize
