// Package special has the special functions of tf.math: Bessel's, incomplete gammas and betas, and others that few programs need.
package special
