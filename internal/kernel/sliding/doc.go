// Package sliding says how a window moves over images: which positions a window covers,
// and which windows cover a position. Convolutions and pooling are built on it.
package sliding
