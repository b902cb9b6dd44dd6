// Package xla has XlaCallModule, by which TensorFlow's models call programs of XLA:
// JAX exports its functions so. The module, in StableHLO, is put in terms of
// TensorFlow's operations, which then run, fuse and are placed as any others.
package xla
