// Package uniform has TensorFlow's operations on uniformly quantized numbers:
// integers q that stand for (q - zero point)*scale. Scale and zero point are
// those of a whole tensor or of each index of one of its dimensions, the
// quantization axis.
package uniform
