package random

import "math"

// smallCount is up to where the events of a binomial distribution are drawn one
// at a time.
const smallCount = 10

// inversionStride is how many blocks lie between the samples that are drawn so.
const inversionStride = 42

// Binomial returns sample i of a binomial distribution: how many of count trials
// of probability prob succeed. The parameters are of precision of. NaN for a
// prob that is no number.
func Binomial(base Philox, of *Precision, i int, count, prob float64) float64 {
	switch {
	case count <= 0 || prob <= 0:
		return 0
	case prob >= 1:
		return count
	case prob <= 0.5:
		return successes(base, of, i, count, prob)
	case prob > 0.5:
		return count - successes(base, of, i, count, of.round(1-prob))
	}
	return math.NaN()
}

// successes is Binomial for probabilities up to one half.
func successes(base Philox, of *Precision, i int, count, prob float64) float64 {
	if of.round(count*prob) >= smallCount {
		p := base.at(i, sampleStride)
		return rejectBinomial(&backwards{p: &p, draw: uniform2}, count, prob)
	}
	p := base.at(i, inversionStride)
	return invertBinomial(&backwards{p: &p, draw: uniform2}, count, prob)
}

// invertBinomial counts how many waiting times, geometrically distributed, fit
// into count trials.
func invertBinomial(uniform *backwards, count, prob float64) float64 {
	trials, scale := 0.0, math.Log1p(-prob)
	for n := 0.0; ; n++ {
		trials += math.Ceil(math.Log(uniform.next()) / scale)
		if !(trials <= count) {
			return n
		}
	}
}

// rejectBinomial is Hörmann's transformed rejection.
func rejectBinomial(uniform *backwards, count, prob float64) float64 {
	deviation := math.Sqrt(count * prob * (1 - prob))
	b := 1.15 + float64(2.53*deviation)
	a := -0.0873 + float64(0.0248*b) + float64(0.01*prob)
	c := float64(count*prob) + 0.5
	alpha := (2.83 + 5.1/b) * deviation
	odds, mode := prob/(1-prob), math.Floor((count+1)*prob)
	for {
		u := uniform.next() - 0.5
		v := uniform.next()
		shifted := 0.5 - math.Abs(u)
		k := math.Floor(float64((2*a/shifted+b)*u) + c)
		if shifted >= 0.07 && v <= 0.92-4.2/b {
			return k
		}
		if k < 0 || k > count {
			continue
		}
		bound := float64((mode+0.5)*math.Log((mode+1)/(odds*(count-mode+1)))) +
			float64((count+1)*math.Log((count-mode+1)/(count-k+1))) +
			float64((k+0.5)*math.Log(odds*(count-k+1)/(k+1))) +
			stirlingTail(mode) + stirlingTail(count-mode) - stirlingTail(k) - stirlingTail(count-k)
		if math.Log(v*alpha/(a/(shifted*shifted)+b)) <= bound {
			return k
		}
	}
}

// stirlingTails holds what Stirling's formula lacks of log k! for small k.
var stirlingTails = [...]float64{
	0.0810614667953272, 0.0413406959554092, 0.0276779256849983, 0.02079067210376509, 0.0166446911898211,
	0.0138761288230707, 0.0118967099458917, 0.0104112652619720, 0.00925546218271273, 0.00833056343336287,
}

func stirlingTail(k float64) float64 {
	if k < float64(len(stirlingTails)) {
		return stirlingTails[int(k)]
	}
	square := (k + 1) * (k + 1)
	return (1.0/12 - (1.0/360-1.0/1260/square)/square) / (k + 1)
}
