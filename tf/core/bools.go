package core

// NormalizeBools makes elements of type d that come from outside (a file, a peer, bytes of
// strings) those of Go: of booleans every byte but 0 is true, and true is 1. Kernels
// count on that. Elements of other types stay as they are.
func NormalizeBools(d DType, elements []byte) {
	if d != Bool {
		return
	}
	for i, v := range elements {
		if v > 1 {
			elements[i] = 1
		}
	}
}
