package train

import "math"

// Zero is the number 0 for fields of optimizers and schedules in which a 0 that was just left
// there stands for TensorFlow's default: Adam{Beta1: Zero} does not average gradients. It is
// the zero with a minus sign, which computes as the other one does.
var Zero = math.Copysign(0, -1)

// or returns x, or what stands for it if it was left 0.
func or(x, otherwise float64) float64 {
	switch {
	case x != 0:
		return x
	case math.Signbit(x):
		return 0
	}
	return otherwise
}
