package initializers

import (
	"math"

	"github.com/gorge-tf/gorge/tf"
)

// A Mode says by what the variance is divided.
type Mode uint8

const (
	FanIn  Mode = iota // the number of inputs of a unit
	FanOut             // the number of outputs of a unit
	FanAvg             // the average of both
)

// A Distribution says how random numbers lie.
type Distribution uint8

const (
	Truncated   Distribution = iota // normal, at most two deviations from 0
	Untruncated                     // normal
	Uniform                         // between limits
)

// VarianceScaling gives random numbers of mean 0 and variance scale/n, n as mode
// says, for a kernel whose last two sizes are the numbers of inputs and
// outputs and whose other sizes multiply both.
func VarianceScaling(scale float64, mode Mode, dist Distribution, seed ...int64) Initializer {
	return func(g *tf.Graph, d tf.DType, s tf.Shape) tf.Output {
		if !(scale > 0) {
			return refuse(g, tf.Errorf(tf.InvalidArgument, "Argument `scale` must be a positive float. Received: %v", scale))
		}
		whole, _ := within(g, s)
		variance := scale / max(1, mode.fan(whole))
		switch dist {
		case Uniform:
			limit := math.Sqrt(3 * variance)
			return RandomUniform(-limit, limit, seed...)(g, d, s)
		case Untruncated:
			return RandomNormal(0, math.Sqrt(variance), seed...)(g, d, s)
		}
		const truncated = .87962566103423978 // the deviation of a truncated standard normal
		return TruncatedNormal(0, math.Sqrt(variance)/truncated, seed...)(g, d, s)
	}
}

func (m Mode) fan(s tf.Shape) float64 {
	in, out := fans(s)
	switch m {
	case FanIn:
		return in
	case FanOut:
		return out
	}
	return (in + out) / 2
}

// fans returns the numbers of inputs and outputs of one unit.
func fans(s tf.Shape) (in, out float64) {
	switch len(s) {
	case 0:
		return 1, 1
	case 1:
		return float64(s[0]), float64(s[0])
	}
	field := 1.0
	for _, d := range s[:len(s)-2] {
		field *= float64(d)
	}
	return field * float64(s[len(s)-2]), field * float64(s[len(s)-1])
}

// GlorotUniform is VarianceScaling(1, FanAvg, Uniform): numbers in [-l, l), l =
// sqrt(6 / (in + out)) (Glorot and Bengio, AISTATS 2010).
func GlorotUniform(g *tf.Graph, d tf.DType, s tf.Shape) tf.Output {
	return VarianceScaling(1, FanAvg, Uniform)(g, d, s)
}

// GlorotNormal is VarianceScaling(1, FanAvg, Truncated) (Glorot and Bengio,
// AISTATS 2010).
func GlorotNormal(g *tf.Graph, d tf.DType, s tf.Shape) tf.Output {
	return VarianceScaling(1, FanAvg, Truncated)(g, d, s)
}

// HeUniform is VarianceScaling(2, FanIn, Uniform) (He et al., ICCV 2015).
func HeUniform(g *tf.Graph, d tf.DType, s tf.Shape) tf.Output {
	return VarianceScaling(2, FanIn, Uniform)(g, d, s)
}

// HeNormal is VarianceScaling(2, FanIn, Truncated) (He et al., ICCV 2015).
func HeNormal(g *tf.Graph, d tf.DType, s tf.Shape) tf.Output {
	return VarianceScaling(2, FanIn, Truncated)(g, d, s)
}

// LecunUniform is VarianceScaling(1, FanIn, Uniform) (LeCun et al. 1998).
func LecunUniform(g *tf.Graph, d tf.DType, s tf.Shape) tf.Output {
	return VarianceScaling(1, FanIn, Uniform)(g, d, s)
}

// LecunNormal is VarianceScaling(1, FanIn, Truncated) (LeCun et al. 1998).
func LecunNormal(g *tf.Graph, d tf.DType, s tf.Shape) tf.Output {
	return VarianceScaling(1, FanIn, Truncated)(g, d, s)
}
