package gemm

import "github.com/gorge-tf/gorge/internal/kernel/elementwise"

// onesOf are the elements of A in a product that adds rows up.
var onesOf = [4]float32{1, 1, 1, 1}

// AddRows adds the rows of x, each as long as z, to z, one after the other. The bits are those
// of additions: a product with 1 is exact.
func AddRows(z, x []float32) {
	width := len(z)
	if whole := width / max(1, simd.lanes32) * simd.lanes32; whole > 0 {
		rest := z[whole:]
		addWhole(z[:whole], x, width)
		for at := whole; at < len(x) && len(rest) > 0; at += width {
			addTo(rest, x[at:][:len(rest)])
		}
		return
	}
	for ; width > 0 && len(x) >= width; x = x[width:] {
		elementwise.Add(z, z, x[:width])
	}
}

// addWhole adds what stands at the beginning of rows that are width apart, as many at a time
// as there is a loop for. The length of z is a multiple of the lanes.
func addWhole(z, x []float32, width int) {
	for len(x) > 0 {
		n := min(len(x)/width, len(simd.addRows32), len(onesOf))
		simd.addRows32[n-1](len(z), &onesOf[0], 1, &x[0], width, &z[0])
		x = x[n*width:]
	}
}

func addTo(z, x []float32) {
	for i, v := range x {
		z[i] += v
	}
}
