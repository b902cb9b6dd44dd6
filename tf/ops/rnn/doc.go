// Package rnn has the fused recurrent cells and connectionist temporal classification.
package rnn
