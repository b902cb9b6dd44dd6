// Package signal has the operations of tf.signal and tf.audio: discrete Fourier and cosine
// transforms, frames and windows, short-time transforms, mel spectra, and WAV files.
package signal
