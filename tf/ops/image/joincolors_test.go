package image

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// TestJoinColors: pixels of three channels are what the loop for any number makes of each channel.
func TestJoinColors(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 5))
	x := make([]float32, 3*9)
	for i := range x {
		x[i] = float32(r.NormFloat64())
	}
	for n := range 8 {
		column := taps{}
		for range n {
			column.at, column.weight = append(column.at, r.IntN(9)), append(column.weight, r.Float32())
		}
		got, want := make([]float32, 3), make([]float32, 3)
		resizeLine(got, x, []taps{column}, 3)
		for c := range want {
			line := make([]float32, 9)
			for i := range line {
				line[i] = x[3*i+c]
			}
			resizeLine(want[c:c+1], line, []taps{column}, 1)
		}
		if !slices.Equal(got, want) {
			t.Fatalf("%+v: %v, want %v", column, got, want)
		}
	}
}
