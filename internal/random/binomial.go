package random

import "math"

// Samples of binomial distributions with few events take few blocks.
const fewStride = 42

// Binomial returns sample i of how many of count trials succeed, each with the
// given probability.
func Binomial(base Philox, i int, count, prob float64) float64 {
	switch {
	case count <= 0 || prob <= 0:
		return 0
	case prob >= 1:
		return count
	case prob <= 0.5:
		return successes(base, i, count, prob)
	case prob > 0.5:
		return count - successes(base, i, count, 1-prob)
	}
	return math.NaN()
}

func successes(base Philox, i int, count, prob float64) float64 {
	if math.IsNaN(count) || math.IsInf(count, 0) {
		return math.NaN()
	}
	stride := fewStride
	if count*prob >= smallMean {
		stride = sampleStride
	}
	p := base.at(i, stride)
	uniform := backwards{p: &p, draw: uniform2}
	if stride == fewStride {
		return sumGeometric(&uniform, count, prob)
	}
	return rejectBinomial(&uniform, count, prob)
}

// sumGeometric adds up how many trials each success takes until there are no
// more.
func sumGeometric(uniform *backwards, count, prob float64) float64 {
	sum, n := 0.0, 0.0
	for ; ; n++ {
		sum += math.Ceil(math.Log(uniform.next()) / math.Log1p(-prob))
		if sum > count {
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
	certain := 0.92 - 4.2/b
	odds := prob / (1 - prob)
	alpha := (2.83 + 5.1/b) * deviation
	m := math.Floor((count + 1) * prob)
	for {
		u, v := uniform.next()-0.5, uniform.next()
		us := 0.5 - math.Abs(u)
		k := math.Floor(float64((2*a/us+b)*u) + c)
		if us >= 0.07 && v <= certain {
			return k
		}
		if k < 0 || k > count {
			continue
		}
		v = math.Log(v * alpha / (a/(us*us) + b))
		bound := (m+0.5)*math.Log((m+1)/(odds*(count-m+1))) +
			(count+1)*math.Log((count-m+1)/(count-k+1)) +
			(k+0.5)*math.Log(odds*(count-k+1)/(k+1)) +
			stirlingTail(m) + stirlingTail(count-m) - stirlingTail(k) - stirlingTail(count-k)
		if v <= bound {
			return k
		}
	}
}

var stirlingTails = [...]float64{
	0.0810614667953272, 0.0413406959554092, 0.0276779256849983, 0.02079067210376509, 0.0166446911898211,
	0.0138761288230707, 0.0118967099458917, 0.0104112652619720, 0.00925546218271273, 0.00833056343336287,
}

// stirlingTail is what Stirling's formula lacks of log k!.
func stirlingTail(k float64) float64 {
	if k <= 9 {
		return stirlingTails[max(int(k), 0)]
	}
	s := (k + 1) * (k + 1)
	return (1./12 - (1./360-1./1260/s)/s) / (k + 1)
}
