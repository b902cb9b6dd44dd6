// Package gorge is TensorFlow 1.x's architecture as an embeddable Go library.
package gorge
