// Package signal has the discrete Fourier transforms of tf.signal.
package signal
