// Package tftext has operations of TensorFlow Text, the library that TensorFlow
// Serving links beside TensorFlow: SavedModels normalize and split text by them
// before they look words up.
package tftext
