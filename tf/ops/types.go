package ops

// The lists of types that signatures repeat, in TensorFlow's notation.
const (
	floatTypes    = "bfloat16, half, float, double"
	complexTypes  = "complex64, complex128"
	inexactTypes  = floatTypes + ", " + complexTypes
	signedTypes   = "int8, int16, int32, int64"
	unsignedTypes = "uint8, uint16, uint32, uint64"
)
