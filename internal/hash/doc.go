// Package hash holds the hashes by which TensorFlow's ops and formats name and spread
// strings: FarmHash's fingerprints, Hash64 and SipHash. Their bits are part of
// checkpoints, tables and crossed features, and so never change.
package hash
