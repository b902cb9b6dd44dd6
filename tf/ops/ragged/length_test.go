package ragged

import (
	"math"
	"testing"
)

func TestIntLength(t *testing.T) {
	const least, most = math.MinInt32, math.MaxInt32
	for _, c := range []struct {
		start, limit, delta int32
		want                uint64
	}{{0, 7, 2, 4}, {0, 8, 2, 4}, {3, -4, -2, 4}, {least, most, most, 3}, {most, least, least, 2}, {least, most, 1, 1<<32 - 1}, {5, 5, -1, 0}} {
		if got, ok := intLength(c.start, c.limit, c.delta); !ok || got != c.want {
			t.Errorf("from %d to %d by %d: %d, %v, want %d", c.start, c.limit, c.delta, got, ok, c.want)
		}
	}
	if n, ok := intLength[int64](math.MinInt64, math.MaxInt64, 1); ok {
		t.Errorf("a range of %d numbers is accepted", n)
	}
	if n, ok := intLength[int64](math.MinInt64, math.MaxInt64, 1<<62); !ok || n != 4 {
		t.Errorf("got %d, %v, want 4", n, ok)
	}
}

func TestFloatLength(t *testing.T) {
	if n, ok := floatLength[float32](0, 1, 0.3); !ok || n != 4 {
		t.Errorf("got %d, %v, want 4", n, ok)
	}
	for _, limit := range []float64{math.Inf(1), math.NaN(), 1e300} {
		if n, ok := floatLength(0, limit, 1); ok {
			t.Errorf("up to %v there are %d numbers", limit, n)
		}
	}
}
