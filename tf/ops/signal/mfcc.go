package signal

import (
	"math"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

// A cepstrum computes the coefficients of spectra of one width: the magnitudes
// are added up in bands that overlap as triangles on the mel scale, and the
// logarithms of these sums go through a cosine transform.
type cepstrum struct {
	first, last int       // the frequencies that count
	band        []int     // whose falling side a frequency is on; -1: before the first
	weight      []float64 // how far up that side
	bands       int
	cosines     [][]float64
}

// mostCosines bounds the table of a cosine transform.
const mostCosines = 1 << 24

func mel(hertz float64) float64 { return 1127 * math.Log1p(hertz/700) }

// newCepstrum returns nil if there is no such.
func newCepstrum(width, bands, coefficients int, rate, lower, upper float64) *cepstrum {
	if bands < 1 || width < 2 || coefficients < 1 || coefficients > bands || bands > mostCosines/coefficients || rate <= 0 || !(lower >= 0 && upper > lower) {
		return nil
	}
	step := 0.5 * rate / float64(width-1) // hertz between frequencies
	c := &cepstrum{first: clamp(1.5+lower/step, width+1), last: clamp(upper/step, width), bands: bands}
	c.divide(width, step, mel(lower), mel(upper))
	scale := math.Sqrt(2 / float64(bands))
	for i := range coefficients {
		row := core.Make[float64](bands)
		for j := range row {
			row[j] = scale * math.Cos(float64(i)*math.Pi/float64(bands)*(float64(j)+0.5))
		}
		c.cosines = append(c.cosines, row)
	}
	return c
}

// clamp cuts v down to an index up to most.
func clamp(v float64, most int) int { return int(min(v, float64(most))) }

// divide finds the bands that frequencies are in.
func (c *cepstrum) divide(width int, step, low, high float64) {
	center := func(k int) float64 { return low + (high-low)/float64(c.bands+1)*float64(k+1) }
	c.band, c.weight = core.Make[int](width), core.Make[float64](width)
	band := 0
	for i := c.first; i < width && i <= c.last; i++ {
		m := mel(float64(i) * step)
		for band < c.bands && center(band) < m {
			band++
		}
		c.band[i] = band - 1
		below := low
		if band > 0 {
			below = center(band - 1)
		}
		c.weight[i] = (center(band) - m) / (center(band) - below)
	}
}

// smallest is what a band has at least, so that it has a logarithm.
const smallest = 1e-12

// compute sets y to the coefficients of squared magnitudes x. They are zero when
// there are no frequencies as high as those that count.
func (c *cepstrum) compute(y, x []float32) {
	clear(y)
	if len(x) <= c.last {
		return
	}
	sums := core.Make[float64](c.bands)
	for i := c.first; i <= c.last; i++ {
		v := math.Sqrt(float64(x[i]))
		falling := v * c.weight[i]
		if b := c.band[i]; b >= 0 {
			sums[b] += falling
		}
		if b := c.band[i] + 1; b < c.bands {
			sums[b] += v - falling
		}
	}
	for i, v := range sums {
		if v < smallest {
			v = smallest
		}
		sums[i] = math.Log(v)
	}
	for i, row := range c.cosines {
		sum := 0.0
		for j, w := range row {
			sum += w * sums[j]
		}
		y[i] = float32(sum)
	}
}

func mfcc(n *core.Node) (core.Kernel, error) {
	if err := n.CheckInt32s("filterbank_channel_count", "dct_coefficient_count"); err != nil {
		return nil, err
	}
	bands, coefficients := n.Int("filterbank_channel_count"), n.Int("dct_coefficient_count")
	lower, upper := float64(n.Float("lower_frequency_limit")), float64(n.Float("upper_frequency_limit"))
	return core.Compute(func(c *core.OpContext) error {
		x, rate := c.Input(0), c.Input(1)
		if x.Rank() != 3 {
			return tf.Errorf(tf.InvalidArgument, "spectrogram must be 3-dimensional%s", x.Shape().String())
		}
		if rate.Rank() != 0 {
			return tf.Errorf(tf.InvalidArgument, "Input sample_rate should be a scalar tensor, got %s instead.", rate.Shape().String())
		}
		width, hertz := x.Dim(2), core.Data[int32](rate)[0]
		p := newCepstrum(width, bands, coefficients, float64(hertz), lower, upper)
		if p == nil {
			return tf.Errorf(tf.InvalidArgument, "Mfcc initialization failed for channel count %d, sample rate %d and filterbank_channel_count %d", width, hertz, bands)
		}
		out, err := c.Alloc(0, tf.Float32, tf.Shape{x.Dim(0), x.Dim(1), coefficients})
		if err != nil {
			return err
		}
		y, v := core.Data[float32](out), core.Data[float32](x)
		c.ParallelFor(x.Dim(0)*x.Dim(1), max(grain/(width+bands*coefficients), 1), func(lo, hi int) {
			for i := lo; i < hi; i++ {
				p.compute(y[i*coefficients:(i+1)*coefficients], v[i*width:(i+1)*width])
			}
		})
		return nil
	}), nil
}
