// Package image has TensorFlow's operations on images: image_ops and what
// tf.image is made of. Images are batches [batch height width channels] of any
// real type unless an op says otherwise.
package image
