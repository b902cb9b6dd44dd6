// Package checkpoint has the operations that save variables to files and restore them, in TensorFlow's two formats.
package checkpoint
