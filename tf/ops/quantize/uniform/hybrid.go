package uniform

import "math"

// zeroPoint returns the number of 8 bits that stands for 0 if lo and hi are the
// bounds in steps.
func zeroPoint(lo, hi float64) int32 {
	const least, most = -128., 127.
	at := most - hi
	if -least+math.Abs(lo) < most+math.Abs(hi) {
		at = least - lo
	}
	return int32(min(max(math.Round(at), least), most))
}

func finite(x float32) bool { return !math.IsInf(float64(x), 0) && x == x }
