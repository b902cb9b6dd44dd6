package random

import "math"

// smallMean is up to where counts are drawn one event at a time.
const smallMean = 10

// Poisson returns sample i of a Poisson distribution with the given rate,
// which is the sample itself if it is infinite or no number.
func Poisson(base Philox, i int, rate float64) float64 {
	p := base.at(i, sampleStride)
	uniform := backwards{p: &p, draw: uniform2}
	switch {
	case math.IsInf(rate, 1), math.IsNaN(rate):
		return rate
	case rate < smallMean:
		return countEvents(&uniform, rate)
	}
	return rejectPoisson(&uniform, rate)
}

// countEvents counts how many uniform numbers can be multiplied until the
// product is less than e^-rate.
func countEvents(uniform *backwards, rate float64) float64 {
	limit := math.Exp(-rate)
	product := uniform.next()
	n := 0.0
	for ; product > limit; n++ {
		product *= uniform.next()
	}
	return n
}

// rejectPoisson is Hörmann's transformed rejection.
func rejectPoisson(uniform *backwards, rate float64) float64 {
	logRate := math.Log(rate)
	b := 0.931 + float64(2.53*math.Sqrt(rate))
	a := -0.059 + float64(0.02483*b)
	inverseAlpha := 1.1239 + 1.1328/(b-3.4)
	for {
		u := uniform.next() - 0.5
		v := uniform.next()
		shifted := 0.5 - math.Abs(u)
		k := math.Floor(float64((2*a/shifted+b)*u) + rate + 0.43)
		if shifted >= 0.07 && v <= 0.9277-3.6224/(b-2) {
			return k
		}
		if k < 0 || shifted < 0.013 && v > shifted {
			continue
		}
		s := math.Log(v * inverseAlpha / (a/(shifted*shifted) + b))
		factorial, _ := math.Lgamma(k + 1)
		if s <= -rate+float64(k*logRate)-factorial {
			return k
		}
	}
}
