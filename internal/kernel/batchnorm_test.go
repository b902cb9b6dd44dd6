package kernel

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
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
	Map2(y, x, func(v float64) float32 { return float32(v) })
	return y
}

func TestBatchNorm(t *testing.T) { eachLevel(t, testBatchNorm) }

func testBatchNorm(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for _, b := range []*BatchNorm{{Rows: 1, C: 3, Epsilon: 0.1}, {Rows: 700, C: 5, Epsilon: 1e-3}, {Rows: 4, C: 40, Epsilon: 1e-4}, {Rows: 331, C: 600, Epsilon: 1e-4}} {
		x, scale, offset := randomSlice[float32](rng, b.Rows*b.C), randomSlice[float32](rng, b.C), randomSlice[float32](rng, b.C)
		want, wantMean, wantVariance := normTwin(b, x, scale, offset)
		y, mean, variance := make([]float32, len(x)), make([]float32, b.C), make([]float32, b.C)
		b.Moments(backwards, mean, variance, x)
		b.Normalize(backwards, y, x, scale, offset, mean, variance)
		for what, pair := range map[string][2][]float32{"mean": {mean, narrowed(wantMean)}, "variance": {variance, narrowed(wantVariance)}, "result": {y, narrowed(want)}} {
			if err := farApart(pair[0], pair[1], 1e-5); err != "" {
				t.Errorf("%d rows: %s: %s", b.Rows, what, err)
			}
		}
	}
}

// TestBatchNormGrad compares with difference quotients of the definition.
func TestBatchNormGrad(t *testing.T) { eachLevel(t, testBatchNormGrad) }

func testBatchNormGrad(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	b := &BatchNorm{Rows: 6, C: 3, Epsilon: 1e-2}
	x, dy, scale, offset := randomSlice[float32](rng, 18), randomSlice[float32](rng, 18), randomSlice[float32](rng, 3), randomSlice[float32](rng, 3)
	mean, variance := make([]float32, 3), make([]float32, 3)
	b.Moments(Serial, mean, variance, x)
	dx, dScale, dOffset := make([]float32, 18), make([]float32, 3), make([]float32, 3)
	b.Grad(backwards, true, dx, dScale, dOffset, dy, x, scale, mean, variance)
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

// TestColumnLoops compares the loops down columns with what they are defined
// to compute, at all widths, with operands that are longer.
func TestColumnLoops(t *testing.T) {
	eachLevel(t, func(t *testing.T) {
		for _, width := range append([]int{1, 15, 16, 17, 31, 32, 33, 47, 48, 63, 64, 65, 130}, lengths[:5]...) {
			for _, rows := range []int{0, 1, 2, 13} {
				testColumnLoops(t, down{rows, width + rows, width})
			}
		}
	})
}

func testColumnLoops(t *testing.T, d down) {
	in := make([][]float32, 6)
	for k := range in {
		in[k] = random[float32](d.stride*(d.rows+1)+k, uint64(k))
	}
	a, b, c, e, f, g := in[0], in[1], in[2], in[3], in[4], in[5]
	check := func(name string, got []float32, want []float64) {
		t.Helper()
		for i, v := range got {
			if math.Abs(float64(v)-want[i]) > 1e-5 {
				t.Fatalf("%s: %+v: element %d is %v, want %v", name, d, i, v, want[i])
			}
		}
	}
	elements := func(name string, run func(z []float32), want func(c, i int) float32) {
		t.Helper()
		z, inside := guarded(d.stride * d.rows)
		wide := slices.Repeat([]float64{12345}, len(z)) // what lies between rows stays
		d.each(func(c, i int) { wide[i] = float64(want(c, i)) })
		run(z)
		check(name, z, wide)
		inside(t)
	}
	elements("normalize", func(z []float32) { normalize(d, z, a, b, c, e) }, func(k, i int) float32 { return (a[i]-b[k])*c[k] + e[k] })
	elements("normGrad", func(z []float32) { normGrad(d, z, a, b, c, e, f, g) }, func(k, i int) float32 { return (a[i] - f[k] - (b[i]-c[k])*e[k]) * g[k] })
	sums := func(name string, run func(first, second []float32), want func(k, i int) (first, second float64)) {
		t.Helper()
		first, inFirst := guarded(d.width)
		second, inSecond := guarded(d.width)
		copy(first, f)
		copy(second, g)
		wantFirst, wantSecond := make([]float64, d.width), make([]float64, d.width)
		for k := range d.width {
			wantFirst[k], wantSecond[k] = float64(f[k]), float64(g[k])
		}
		d.each(func(k, i int) {
			x, y := want(k, i)
			wantFirst[k] += x
			wantSecond[k] += y
		})
		run(first, second)
		check(name, first, wantFirst)
		check(name, second, wantSecond)
		inFirst(t)
		inSecond(t)
	}
	sums("columnSums", func(x, _ []float32) { columnSums(d, x, a) }, func(_, i int) (float64, float64) { return float64(a[i]), 0 })
	sums("columnMoments", func(x, y []float32) { columnMoments(d, x, y, a, b) }, func(k, i int) (float64, float64) {
		v := float64(a[i]) - float64(b[k])
		return v, v * v
	})
	sums("columnProducts", func(x, y []float32) { columnProducts(d, x, y, a, b, c) }, func(k, i int) (float64, float64) {
		return float64(a[i]), float64(a[i]) * (float64(b[i]) - float64(c[k]))
	})
}

// TestBatchNormFarFromZero has channels whose means are large and differ from
// chunk to chunk, and more rows than a chunk has, whatever the threads.
func TestBatchNormFarFromZero(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 10))
	b := &BatchNorm{C: 7, Epsilon: 1e-3}
	b.Rows = 40000
	b.Rows = 5*b.grid().chunkRows + 11
	x := randomSlice[float32](rng, b.Rows*b.C)
	for i := range x {
		x[i] += float32(1000*(i%b.C) + i/b.C/1000)
	}
	_, wantMean, wantVariance := normTwin(b, x, make([]float32, b.C), make([]float32, b.C))
	mean, variance := make([]float32, b.C), make([]float32, b.C)
	b.Moments(backwards, mean, variance, x)
	for c := range mean {
		if math.Abs(float64(mean[c])/wantMean[c]-1) > 1e-6 || math.Abs(float64(variance[c])/wantVariance[c]-1) > 1e-5 {
			t.Errorf("channel %d: mean %v and variance %v, want %v and %v", c, mean[c], variance[c], wantMean[c], wantVariance[c])
		}
	}
	again, varianceAgain := make([]float32, b.C), make([]float32, b.C)
	b.Moments(Serial, again, varianceAgain, x)
	if !slices.Equal(again, mean) || !slices.Equal(varianceAgain, variance) {
		t.Error("moments depend on how the work is shared")
	}
}
