// Package parsing has the operations that decode records: tf.Example, CSV, JSON and raw bytes.
package parsing
