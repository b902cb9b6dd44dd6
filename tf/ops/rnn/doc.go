// Package rnn has TensorFlow's operations for sequences: the cells of recurrent
// networks as single ops, LSTMs over whole sequences, and connectionist
// temporal classification (CTC): the loss of labels without times, and its
// decoders.
package rnn
