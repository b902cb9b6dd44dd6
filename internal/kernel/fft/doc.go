// Package fft holds Fourier transforms in single precision, sixteen lines at a time,
// which share roots and need no shuffles. Lengths have no factors beyond 5; others are
// transformed by tf/ops/signal in double precision.
package fft
