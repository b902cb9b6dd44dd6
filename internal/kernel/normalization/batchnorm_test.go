package normalization

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gorge-tf/gorge/internal/kernel"
	"github.com/gorge-tf/gorge/internal/kernel/kerneltest"
)

// normTwin normalizes by definition, in float64.
func normTwin(b *BatchNorm, x, scale, offset []float32) (y, mean, variance []float64) {
	y, mean, variance = make([]float64, len(x)), make([]float64, b.C), make([]float64, b.C)
	for i, v := range x {
		mean[i%b.C] += float64(v) / float64(b.Rows)
	}
	for i, v := range x {
		variance[i%b.C] += math.Pow(float64(v)-mean[i%b.C], 2) / float64(b.Rows)
	}
	for i, v := range x {
		c := i % b.C
		y[i] = (float64(v)-mean[c])/math.Sqrt(variance[c]+float64(b.Epsilon))*float64(scale[c]) + float64(offset[c])
	}
	return y, mean, variance
}

func narrowed(x []float64) []float32 {
	y := make([]float32, len(x))
	kernel.Map2(y, x, func(v float64) float32 { return float32(v) })
	return y
}

func TestBatchNorm(t *testing.T) { kerneltest.EachLevel(t, testBatchNorm) }

func testBatchNorm(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for _, b := range []*BatchNorm{{Rows: 1, C: 3, Epsilon: 0.1}, {Rows: 700, C: 5, Epsilon: 1e-3}, {Rows: 4, C: 40, Epsilon: 1e-4}, {Rows: 331, C: 600, Epsilon: 1e-4}} {
		x, scale, offset := kerneltest.RandomSlice[float32](rng, b.Rows*b.C), kerneltest.RandomSlice[float32](rng, b.C), kerneltest.RandomSlice[float32](rng, b.C)
		want, wantMean, wantVariance := normTwin(b, x, scale, offset)
		y, mean, variance := make([]float32, len(x)), make([]float32, b.C), make([]float32, b.C)
		b.Moments(kerneltest.Backwards, mean, variance, x)
		b.Normalize(kerneltest.Backwards, y, x, scale, offset, mean, variance)
		for what, pair := range map[string][2][]float32{"mean": {mean, narrowed(wantMean)}, "variance": {variance, narrowed(wantVariance)}, "result": {y, narrowed(want)}} {
			if err := kerneltest.FarApart(pair[0], pair[1], 1e-5); err != "" {
				t.Errorf("%d rows: %s: %s", b.Rows, what, err)
			}
		}
	}
}

// TestBatchNormGrad compares with difference quotients of the definition.
func TestBatchNormGrad(t *testing.T) { kerneltest.EachLevel(t, testBatchNormGrad) }

func testBatchNormGrad(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	b := &BatchNorm{Rows: 6, C: 3, Epsilon: 1e-2}
	x, dy, scale, offset := kerneltest.RandomSlice[float32](rng, 18), kerneltest.RandomSlice[float32](rng, 18), kerneltest.RandomSlice[float32](rng, 3), kerneltest.RandomSlice[float32](rng, 3)
	mean, variance := make([]float32, 3), make([]float32, 3)
	b.Moments(kernel.Serial, mean, variance, x)
	dx, dScale, dOffset := make([]float32, 18), make([]float32, 3), make([]float32, 3)
	b.Grad(kerneltest.Backwards, true, nil, dx, dScale, dOffset, dy, x, scale, mean, variance)
	loss := func() (sum float64) {
		y, _, _ := normTwin(b, x, scale, offset)
		for i := range y {
			sum += y[i] * float64(dy[i])
		}
		return sum
	}
	for what, pair := range map[string][2][]float32{"x": {x, dx}, "scale": {scale, dScale}, "offset": {offset, dOffset}} {
		for i, v := range pair[0] {
			pair[0][i] = v + 1.0/256
			up, at := loss(), pair[0][i]
			pair[0][i] = v - 1.0/256
			want := (up - loss()) / float64(at-pair[0][i])
			pair[0][i] = v
			if got := float64(pair[1][i]); math.Abs(got-want) > 1e-3*max(1, math.Abs(want)) {
				t.Errorf("gradient %d for %s is %v, want %v", i, what, got, want)
			}
		}
	}
}

// TestBatchNormFarFromZero has channels whose means are large and differ from
// chunk to chunk, and more rows than a chunk has, whatever the threads.
func TestBatchNormFarFromZero(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 10))
	b := &BatchNorm{C: 7, Epsilon: 1e-3}
	b.Rows = 40000
	b.Rows = 5*b.grid().chunkRows + 11
	x := kerneltest.RandomSlice[float32](rng, b.Rows*b.C)
	for i := range x {
		x[i] += float32(1000*(i%b.C) + i/b.C/1000)
	}
	_, wantMean, wantVariance := normTwin(b, x, make([]float32, b.C), make([]float32, b.C))
	mean, variance := make([]float32, b.C), make([]float32, b.C)
	b.Moments(kerneltest.Backwards, mean, variance, x)
	for c := range mean {
		if math.Abs(float64(mean[c])/wantMean[c]-1) > 1e-6 || math.Abs(float64(variance[c])/wantVariance[c]-1) > 1e-5 {
			t.Errorf("channel %d: mean %v and variance %v, want %v and %v", c, mean[c], variance[c], wantMean[c], wantVariance[c])
		}
	}
	again, varianceAgain := make([]float32, b.C), make([]float32, b.C)
	b.Moments(kernel.Serial, again, varianceAgain, x)
	if !slices.Equal(again, mean) || !slices.Equal(varianceAgain, variance) {
		t.Error("moments depend on how the work is shared")
	}
}

// TestGatedGrad compares with the gradient of a rectifier before that of the normalization, to the
// bit, in memory of its own and in that of the gradient. Many results are exactly 0 and 6.
func TestGatedGrad(t *testing.T) { kerneltest.EachLevel(t, testGatedGrad) }

func testGatedGrad(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 10))
	for _, c := range []int{1, 3, 16, 40, 64, 100, 300} {
		for _, rows := range []int{1, 5, 70, 1000} {
			b := &BatchNorm{Rows: rows, C: c, Epsilon: 1e-3}
			x, dy, y := kerneltest.RandomSlice[float32](rng, rows*c), kerneltest.RandomSlice[float32](rng, rows*c), make([]float32, rows*c)
			scale, offset, mean, variance := kerneltest.RandomSlice[float32](rng, c), make([]float32, c), make([]float32, c), make([]float32, c)
			for i := range scale {
				offset[i] = []float32{0, 0, 6, 3, float32(math.NaN()), float32(math.Inf(1))}[rng.IntN(6)]
				scale[i] *= float32(rng.IntN(8))
			}
			b.Moments(kernel.Serial, mean, variance, x)
			b.Normalize(kernel.Serial, y, x, scale, offset, mean, variance)
			for _, most := range []float32{6, float32(math.NaN())} {
				gated := make([]float32, len(dy))
				for i, v := range y {
					if v > 0 && (most != most || v < most) {
						gated[i] = dy[i]
					}
				}
				want, got := make([]float32, len(x)), slices.Clone(dy)
				wantScale, wantOffset, gotScale, gotOffset := make([]float32, c), make([]float32, c), make([]float32, c), make([]float32, c)
				b.Grad(kernel.Serial, true, nil, want, wantScale, wantOffset, gated, x, scale, mean, variance)
				b.Grad(kerneltest.Backwards, true, &Gate{offset, most}, got, gotScale, gotOffset, got, x, scale, mean, variance)
				for what, pair := range map[string][2][]float32{"x": {want, got}, "scale": {wantScale, gotScale}, "offset": {wantOffset, gotOffset}} {
					for i, v := range pair[0] {
						if math.Float32bits(v) != math.Float32bits(pair[1][i]) {
							t.Fatalf("%d rows of %d, bound %v: gradient %d for %s is %v, want %v", rows, c, most, i, what, pair[1][i], v)
						}
					}
				}
			}
		}
	}
}
