package ops

import (
	"math"

	"github.com/gorge-tf/gorge/internal/kernel/elementwise"
)

// A ratio of polynomials, the coefficients of the highest powers first.
type ratio struct{ above, below []float64 }

// at returns the ratio at x.
func (r ratio) at(x float64) float64 { return horner(r.above, x) / horner(r.below, x) }

// The approximations of the Cephes library's ndtri (Moshier, 1989): near the middle, and
// in the tails by z = sqrt(-2 log p) below and beyond 8.
var (
	quantileMiddle = ratio{
		[]float64{-5.99633501014107895267e1, 9.80010754185999661536e1, -5.66762857469070293439e1, 1.39312609387279679503e1, -1.23916583867381258016e0},
		[]float64{1, 1.95448858338141759834e0, 4.67627912898881538453e0, 8.63602421390890590575e1, -2.25462687854119370527e2, 2.00260212380060660359e2,
			-8.20372256168333339912e1, 1.59056225126211695515e1, -1.18331621121330003142e0},
	}
	quantileTail = ratio{
		[]float64{4.05544892305962419923e0, 3.15251094599893866154e1, 5.71628192246421288162e1, 4.40805073893200834700e1, 1.46849561928858024014e1,
			2.18663306850790267539e0, -1.40256079171354495875e-1, -3.50424626827848203418e-2, -8.57456785154685413611e-4},
		[]float64{1, 1.57799883256466749731e1, 4.53907635128879210584e1, 4.13172038254672030440e1, 1.50425385692907503408e1, 2.50464946208309415979e0,
			-1.42182922854787788574e-1, -3.80806407691578277194e-2, -9.33259480895457427372e-4},
	}
	quantileFarTail = ratio{
		[]float64{3.23774891776946035970e0, 6.91522889068984211695e0, 3.93881025292474443415e0, 1.33303460815807542389e0, 2.01485389549179081538e-1,
			1.23716634817820021358e-2, 3.01581553508235416007e-4, 2.65806974686737550832e-6, 6.23974539184983293730e-9},
		[]float64{1, 6.02427039364742014255e0, 3.67983563856160859403e0, 1.37702099489081330271e0, 2.16236993594496635890e-1, 1.34204006088543189037e-2,
			3.28014464682127739104e-4, 2.89247864745380683936e-6, 6.79019408009981274425e-9},
	}
)

// horner returns the value of a polynomial at x.
func horner(coefficients []float64, x float64) (y float64) {
	for _, c := range coefficients {
		y = y*x + c
	}
	return y
}

// normalQuantile returns the point below which the standard normal distribution has p.
// Small p keep their digits, which 2p-1 would lose.
func normalQuantile(p float64) float64 {
	switch {
	case !(p >= 0 && p <= 1):
		return math.NaN()
	case p == 0 || p == 1:
		return math.Inf(int(2*p - 1))
	}
	const border = 0.13533528323661269189 // exp(-2)
	switch {
	case p > 1-border:
		return quantileOfTail(1 - p)
	case p <= border:
		return -quantileOfTail(p)
	}
	y := p - 0.5
	return (y + y*y*y*quantileMiddle.at(y*y)) * math.Sqrt(2*math.Pi)
}

// quantileOfTail returns the point beyond which there is p, which is small.
func quantileOfTail(p float64) float64 {
	z := math.Sqrt(-2 * elementwise.LogOf(p))
	r := quantileTail
	if z >= 8 {
		r = quantileFarTail
	}
	return z - math.Log(z)/z - r.at(1/z)/z
}
