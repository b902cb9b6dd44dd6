// Package fft holds Fourier transforms of many lines at a time, sixteen in single and
// eight in double precision, which share roots and need no shuffles. Lengths have no
// factors beyond 5 or large ones, which make them convolutions; others are transformed
// by tf/ops/signal, in double precision.
package fft
