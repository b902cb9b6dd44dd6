package signal

import (
	"math"
	"math/bits"

	"github.com/gorge-tf/gorge/tf/core"
)

// A filterbank adds energies up in channels that overlap as triangles on the
// mel scale, weights in fixed point: 1<<12 is 1.
type filterbank struct {
	channels []filterChannel // one more than come out
}

// A filterChannel has what each frequency gives to it, rising, and to the next
// one.
type filterChannel struct {
	first           int
	rising, falling []int16
}

const (
	filterBits = 12
	windowBits = 12
)

// raisedCosine returns a window's weights in fixed point.
func raisedCosine(size int) []int16 {
	w, arg := core.Make[int16](size), float32(2*math.Pi/float64(float32(size)))
	for i := range w {
		v := float32(0.5 - 0.5*math.Cos(float64(arg)*(float64(i)+0.5)))
		w[i] = int16(math.Floor(float64(v*(1<<windowBits)) + 0.5))
	}
	return w
}

func mel32(hertz float32) float32 { return float32(1127 * math.Log1p(float64(hertz)/700)) }

// newFilterbank returns nil if the channels are wider than the spectrum.
func newFilterbank(channels int, lower, upper float32, rate, spectrum int) *filterbank {
	step := float32(0.5 * float64(rate) / float64(float32(spectrum)-1))
	low, high := mel32(lower), mel32(upper)
	spacing := (high - low) / float32(channels+1)
	at := int(min(1.5+float64(lower/step), float64(spectrum)))
	f := &filterbank{}
	below := low
	for i := range channels + 1 {
		center := low + spacing*float32(i+1)
		c := filterChannel{first: at}
		for mel32(float32(at)*step) <= center {
			w := (center - mel32(float32(at)*step)) / (center - below)
			c.rising = append(c.rising, int16(math.Floor(float64(w*(1<<filterBits))+0.5)))
			c.falling = append(c.falling, int16(math.Floor((1-float64(w))*(1<<filterBits)+0.5)))
			if at++; at >= spectrum {
				return nil
			}
		}
		f.channels, below = append(f.channels, c), center
	}
	return f
}

// apply returns the square roots of the energies of a spectrum by channel,
// scaled down.
func (f *filterbank) apply(spectrum []fixedComplex, shift int) []uint32 {
	out := core.Make[uint32](len(f.channels) - 1)[:0]
	carried := uint64(0)
	for i, c := range f.channels {
		sum := carried
		carried = 0
		for k := range c.rising {
			v := spectrum[c.first+k]
			energy := uint64(int32(v.re)*int32(v.re) + int32(v.im)*int32(v.im))
			sum += uint64(c.rising[k]) * energy
			carried += uint64(c.falling[k]) * energy
		}
		if i > 0 { // the first one only carries
			out = append(out, sqrt64(sum)>>shift)
		}
	}
	return out
}

// sqrt64 returns the square root of v, rounded; of numbers of up to 32 bits it
// never exceeds 16 bits.
func sqrt64(v uint64) uint32 {
	most := uint32(math.MaxUint32)
	if v>>32 == 0 {
		most = math.MaxUint16
	}
	r := uint64(0)
	for bit := uint64(1) << 62; bit > 0; bit >>= 2 {
		if v >= r+bit {
			v -= r + bit
			r = r>>1 + bit
		} else {
			r >>= 1
		}
	}
	if v > r && uint32(r) != most {
		r++
	}
	return uint32(r)
}

// A noiseReduction subtracts what is there all the time, by channel; fractions
// have 14 bits.
type noiseReduction struct {
	bits      int
	smoothing [2]uint32 // of even and odd channels
	remaining uint32
	estimate  []uint32
}

const noiseBits = 14

func (n *noiseReduction) apply(signal []uint32) {
	for i, v := range signal {
		s := n.smoothing[i&1]
		scaled := v << n.bits
		n.estimate[i] = uint32((uint64(scaled)*uint64(s) + uint64(n.estimate[i])*uint64(1<<noiseBits-s)) >> noiseBits)
		left := (scaled - min(n.estimate[i], scaled)) >> n.bits
		signal[i] = max(left, uint32(uint64(v)*uint64(n.remaining)>>noiseBits))
	}
}

// A gainControl evens out channels by their noise (PCAN): a power of it, from a
// table of parabolas between powers of 2.
type gainControl struct {
	shift int
	table [125]int16
}

const (
	snrBits  = 12
	pcanBits = 6
)

func newGainControl(strength, offset float32, gainBits, smoothingBits, correction int) *gainControl {
	g := &gainControl{shift: gainBits - correction - snrBits}
	inputBits := smoothingBits - correction
	gain := func(x uint32) int32 {
		v := float32(x) / float32(math.Ldexp(1, inputBits))
		y := float32(math.Ldexp(1, gainBits)) * float32(math.Pow(float64(v+offset), float64(-strength)))
		if y > math.MaxInt16 {
			return math.MaxInt16
		}
		return int32(y + 0.5)
	}
	g.table[0], g.table[1] = int16(gain(0)), int16(gain(1))
	for interval := 2; interval <= 32; interval++ {
		x0 := uint32(1) << (interval - 1)
		x2 := x0 + (x0 - 1)
		if interval < 32 {
			x2 = 2 * x0
		}
		y0 := gain(x0)
		d1, d2 := gain(x0+x0>>1)-y0, gain(x2)-y0
		a1 := 4*d1 - d2
		copy(g.table[4*interval-6:], []int16{int16(y0), int16(a1), int16(d2 - a1)})
	}
	return g
}

// gain looks the gain for a noise up.
func (g *gainControl) gain(x uint32) int16 {
	if x <= 2 {
		return g.table[x]
	}
	interval := bits.Len32(x)
	t := g.table[4*interval-6:]
	frac := x >> max(interval-11, 0) << max(11-interval, 0) & 0x3ff
	y := int32(t[2]) * int32(frac) >> 5
	y += int32(t[1]) << 5
	y *= int32(frac)
	return int16((y+1<<14)>>15 + int32(t[0]))
}

func (g *gainControl) apply(signal, noise []uint32) {
	for i, v := range signal {
		x := uint32(uint64(v) * uint64(uint32(int32(g.gain(noise[i])))) >> g.shift)
		if x < 2<<snrBits {
			signal[i] = x * x >> (2 + 2*snrBits - pcanBits)
		} else {
			signal[i] = x>>(snrBits-pcanBits) - 1<<pcanBits
		}
	}
}

// logarithm returns ln v for v from 2 on, times 1<<scale.
func logarithm(v uint32, scale int) uint32 {
	const one = 1 << 16
	whole := bits.Len32(v) - 1
	frac := int32(v - 1<<whole)
	if whole < 16 {
		frac <<= 16 - whole
	} else {
		frac >>= whole - 16
	}
	seg := frac >> 9
	c0, c1 := int32(logBends[seg]), int32(logBends[seg+1])
	log2 := uint32(whole)<<16 + uint32(frac+c0+(c1-c0)*(frac-seg<<9)>>16)
	ln := uint32((45426*uint64(log2) + one/2) >> 16) // ln 2 is 45426/65536
	return (ln<<scale + one/2) >> 16
}

// logBends are the differences between log2(1+x) and x at 128 places from 0 to
// 1, times 65536.
var logBends = func() (t [130]uint16) {
	for i := range 129 {
		x := float64(i) / 128
		t[i] = uint16(math.Round(65536 * (math.Log2(1+x) - x)))
	}
	return t
}()
