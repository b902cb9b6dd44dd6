package elementwise

import "math"

// AsinOf is the arc sine of x. math.Asin takes 1 - x², which loses digits where x is near 1.
func AsinOf(x float64) float64 { return math.Atan2(x, math.Sqrt((1-x)*(1+x))) }

// AcosOf is the arc cosine of x, as exact near 1 as AsinOf.
func AcosOf(x float64) float64 { return math.Atan2(math.Sqrt((1-x)*(1+x)), x) }

// Atan2Of is math.Atan2, which forgets the sign of y where y/x is 0 because it is too small.
func Atan2Of(y, x float64) float64 { return math.Copysign(math.Atan2(y, x), y) }
