//go:build amd64 && !noasm

package conv

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/gorge-tf/gorge/internal/kernel"
	"github.com/gorge-tf/gorge/internal/kernel/gemm"
)

// BenchmarkSquare runs the convolutions of 3×3 of ResNet-20 and ResNet50, and those of 5×5 of LeNet, the plain way and by tiles, on one thread:
// what pays and backFilterPays have to say.
func BenchmarkSquare(b *testing.B) {
	shapes := [][4]int{{32, 16, 16, 3}, {16, 32, 32, 3}, {8, 64, 64, 3}, {56, 64, 64, 3}, {28, 128, 128, 3}, {14, 256, 256, 3}, {7, 512, 512, 3}, {14, 32, 64, 5}, {28, 1, 32, 5}}
	best := newWinograd(newEngine(&microF32AVX512), winogradAVX512)
	if kernel.Levels()[0] == kernel.AVX2 {
		best = newWinograd(newEngine(&microF32AVX2), winogradAVX2)
	}
	for _, s := range shapes {
		for _, batch := range []int{1, 8, 64} {
			v := squareConv(batch, s[0], s[0], s[1], s[2], s[3], s[3]/2, s[3]/2)
			rng := rand.New(rand.NewPCG(1, 2))
			d := v.dataOf(func() float32 { return rng.Float32() })
			y, dw := make([]float32, len(d.dy)), make([]float32, len(d.w))
			run := func(name string, pays bool, f func()) {
				b.Run(fmt.Sprintf("%v/%d/%s/%v", s, batch, name, pays), func(b *testing.B) {
					for b.Loop() {
						f()
					}
					b.ReportMetric(2*float64(len(y)*v.Taps()*v.InC*b.N)/b.Elapsed().Seconds()/1e9, "Gflop/s")
				})
			}
			none := gemm.Epilogue[float32]{}
			run("plain", !best.pays(v), func() { best.engine.convolve(kernel.Serial, v, y, d.x, d.w, none) })
			run("tiles", best.pays(v), func() { best.convolveTiles(kernel.Serial, v, y, d.x, d.w, none) })
			run("filters", !best.backFilterPays(v), func() { best.engine.backFilter(kernel.Serial, v, dw, d.x, d.dy) })
			run("tiles of filters", best.backFilterPays(v), func() { best.sumTiles(kernel.Serial, v, dw, d.x, d.dy) })
		}
	}
}
