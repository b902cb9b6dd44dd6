package random

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"testing"
)

// filler is a fill function with its element type forgotten.
type filler struct {
	name string // op and dtype
	test func(t *testing.T, base Philox, want []string)
}

// exact makes a filler whose values must be TensorFlow's to the bit.
func exact[T comparable](name string, fill func(Philox, uint64, []T)) filler {
	return filler{name, func(t *testing.T, base Philox, want []string) {
		t.Helper()
		out := make([]T, len(want))
		fill(base, 0, out)
		compare(t, out, want)
	}}
}

// near makes a filler of float64 normals, whose last bits depend on the machine
// that TensorFlow ran on.
func near(name string, fill func(Philox, uint64, []float64)) filler {
	return filler{name, func(t *testing.T, base Philox, want []string) {
		t.Helper()
		out := make([]float64, len(want))
		fill(base, 0, out)
		closeTo(t, out, want, 4)
	}}
}

func intRange(low, high int32) func(Philox, uint64, []int32) {
	return func(p Philox, g uint64, out []int32) { UniformInt(p, g, low, high, out) }
}

func int64Range(low, high int64) func(Philox, uint64, []int64) {
	return func(p Philox, g uint64, out []int64) { UniformInt64(p, g, low, high, out) }
}

func TestStatefulOps(t *testing.T) {
	for _, f := range []filler{
		exact("RandomUniform float32", UniformFloat32),
		exact("RandomUniform float64", UniformFloat64),
		exact("RandomUniform float16", UniformHalf),
		exact("RandomUniform bfloat16", UniformBFloat16),
		exact("RandomStandardNormal float32", NormalFloat32),
		near("RandomStandardNormal float64", NormalFloat64),
		exact("RandomStandardNormal float16", NormalHalf),
		exact("RandomStandardNormal bfloat16", NormalBFloat16),
		exact("TruncatedNormal float32", TruncatedNormalFloat32),
		near("TruncatedNormal float64", TruncatedNormalFloat64),
		exact("TruncatedNormal float16", TruncatedNormalHalf),
		exact("TruncatedNormal bfloat16", TruncatedNormalBFloat16),
		exact("RandomUniformInt int32 [-10,1000)", intRange(-10, 1000)),
		exact("RandomUniformInt int32 [-1,0)", intRange(-1, 0)),
		exact("RandomUniformInt int32 [-2147483648,2147483647)", intRange(math.MinInt32, math.MaxInt32)),
		exact("RandomUniformInt int64 [-10,1000)", int64Range(-10, 1000)),
		exact("RandomUniformInt int64 [-1,0)", int64Range(-1, 0)),
		exact("RandomUniformInt int64 [-9223372036854775808,9223372036854775807)", int64Range(math.MinInt64, math.MaxInt64)),
	} {
		t.Run(f.name, func(t *testing.T) {
			eachSeed(t, func(t *testing.T, g *Generator, at string, run int) {
				values := want(t, "%s %s out=0 run=%d", f.name, at, run)
				f.test(t, g.Reserve(len(values)), values)
			})
		})
	}
}

func TestStatelessOps(t *testing.T) {
	for _, f := range []filler{
		exact("StatelessRandomUniformV2 float32", UniformFloat32),
		exact("StatelessRandomUniformV2 float64", UniformFloat64),
		exact("StatelessRandomUniformV2 float16", UniformHalf),
		exact("StatelessRandomUniformV2 bfloat16", UniformBFloat16),
		exact("StatelessRandomNormalV2 float32", NormalFloat32),
		near("StatelessRandomNormalV2 float64", NormalFloat64),
		exact("StatelessRandomNormalV2 float16", NormalHalf),
		exact("StatelessRandomNormalV2 bfloat16", NormalBFloat16),
		exact("StatelessTruncatedNormalV2 float32", TruncatedNormalFloat32),
		near("StatelessTruncatedNormalV2 float64", TruncatedNormalFloat64),
		exact("StatelessTruncatedNormalV2 float16", TruncatedNormalHalf),
		exact("StatelessTruncatedNormalV2 bfloat16", TruncatedNormalBFloat16),
		exact("StatelessRandomUniformFullIntV2 int32", Bits[int32]),
		exact("StatelessRandomUniformFullIntV2 uint32", Bits[uint32]),
		exact("StatelessRandomUniformFullIntV2 int64", Bits64[int64]),
		exact("StatelessRandomUniformFullIntV2 uint64", Bits64[uint64]),
		exact("StatelessRandomUniformIntV2 int32 [7,1000)", intRange(7, 1000)),
		exact("StatelessRandomUniformIntV2 int64 [7,1000)", int64Range(7, 1000)),
	} {
		for _, s := range statelessSeeds {
			name := fmt.Sprintf("%s seed=%d,%d", f.name, s[0], s[1])
			t.Run(name, func(t *testing.T) { f.test(t, FromSeed(s), want(t, "%s", name)) })
		}
	}
}

func TestCounterCarries(t *testing.T) {
	p := FromKeyCounter(math.MaxUint64, [2]uint64{math.MaxUint64 - 1, 5})
	exact("", Bits[uint32]).test(t, p, want(t, "carry uniform"))
	exact("", TruncatedNormalFloat32).test(t, p, want(t, "carry truncated"))
}

func TestLongOutputs(t *testing.T) {
	checkLong(t, "RandomUniform float32", 4000001, UniformFloat32)
	checkLong(t, "RandomUniform float32", 1000001, UniformFloat32)
	checkLong(t, "RandomStandardNormal float32", 1000001, NormalFloat32)
	checkLong(t, "TruncatedNormal float32", 1000001, TruncatedNormalFloat32)
	checkLong(t, "RandomUniform float64", 200001, UniformFloat64)

	out := make([]float64, 200001)
	NormalFloat64(New(1, 3), 0, out)
	closeTo(t, out[200001-20:], want(t, "RandomStandardNormal float64 last 20 of 200001"), 4)
	TruncatedNormalFloat64(New(1, 3), 0, out)
	closeTo(t, out[200001-20:], want(t, "TruncatedNormal float64 last 20 of 200001"), 4)
}

// checkLong compares the hash of a long output with TensorFlow's.
func checkLong[T any](t *testing.T, name string, n int, fill func(Philox, uint64, []T)) {
	t.Run(fmt.Sprint(name, " ", n), func(t *testing.T) {
		out := make([]T, n)
		fill(New(1, 3), 0, out)
		compare(t, out[n-20:], want(t, "%s last 20 of %d", name, n))
		h := sha256.New()
		if err := binary.Write(h, binary.LittleEndian, out); err != nil {
			t.Fatal(err)
		}
		if got, sum := hexOf(h.Sum(nil)), want(t, "%s sha256 of %d", name, n)[0]; got != sum {
			t.Fatalf("SHA-256 %s, want %s", got, sum)
		}
	})
}

// TestSplitAtGroups fills outputs in pieces, as several goroutines would.
func TestSplitAtGroups(t *testing.T) {
	checkSplit(t, "UniformFloat32", Group, UniformFloat32)
	checkSplit(t, "UniformFloat64", Group64, UniformFloat64)
	checkSplit(t, "UniformHalf", Group, UniformHalf)
	checkSplit(t, "UniformBFloat16", Group, UniformBFloat16)
	checkSplit(t, "NormalFloat32", Group, NormalFloat32)
	checkSplit(t, "NormalFloat64", Group64, NormalFloat64)
	checkSplit(t, "NormalHalf", Group, NormalHalf)
	checkSplit(t, "NormalBFloat16", Group, NormalBFloat16)
	checkSplit(t, "TruncatedNormalFloat32", Group, TruncatedNormalFloat32)
	checkSplit(t, "TruncatedNormalFloat64", Group64, TruncatedNormalFloat64)
	checkSplit(t, "TruncatedNormalHalf", Group, TruncatedNormalHalf)
	checkSplit(t, "UniformInt", Group, intRange(-3, 1000))
	checkSplit(t, "UniformInt64", Group64, int64Range(-3, 1000))
	checkSplit(t, "Bits", Group, Bits[uint32])
	checkSplit(t, "Bits64", Group64, Bits64[uint64])
}

func checkSplit[T comparable](t *testing.T, name string, group int, fill func(Philox, uint64, []T)) {
	t.Run(name, func(t *testing.T) {
		for n := range 23 {
			whole, parts := make([]T, n), make([]T, n+1)
			fill(New(1, 3), 0, whole)
			for cut := 0; cut <= n; cut += group {
				fill(New(1, 3), uint64(cut/group), parts[cut:n])
				fill(New(1, 3), 0, parts[:cut])
				if !slices.Equal(whole, parts[:n]) {
					t.Fatalf("%d elements split at %d: %v\nat once: %v", n, cut, parts[:n], whole)
				}
			}
			var none T
			if parts[n] != none {
				t.Fatalf("%d elements: wrote past the end", n)
			}
		}
	})
}

func benchmarkFill[T any](b *testing.B, fill func(Philox, uint64, []T)) {
	out := make([]T, 1<<16)
	for b.Loop() {
		fill(New(1, 3), 0, out)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(out)), "ns/elem")
}

func BenchmarkUniformFloat32(b *testing.B)         { benchmarkFill(b, UniformFloat32) }
func BenchmarkUniformFloat64(b *testing.B)         { benchmarkFill(b, UniformFloat64) }
func BenchmarkUniformInt(b *testing.B)             { benchmarkFill(b, intRange(0, 1000)) }
func BenchmarkNormalFloat32(b *testing.B)          { benchmarkFill(b, NormalFloat32) }
func BenchmarkNormalFloat64(b *testing.B)          { benchmarkFill(b, NormalFloat64) }
func BenchmarkTruncatedNormalFloat32(b *testing.B) { benchmarkFill(b, TruncatedNormalFloat32) }
