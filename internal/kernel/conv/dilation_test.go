package conv

import (
	"testing"

	"github.com/gorge-tf/gorge/internal/kernel"
	"github.com/gorge-tf/gorge/internal/numeric"
)

func TestDilate(t *testing.T) {
	for _, v := range depthwiseCases() {
		x, w := waves(v.Batch*v.LinesIn()*v.In[2]*v.C), waves(v.Taps()*v.C)
		n := v.Batch * v.LinesOut() * v.Out[2] * v.C
		want, source := make([]float64, n), make([]DilationSource, n)
		kernel.Fill(want, numeric.Lowest[float64]())
		kernel.Fill(source, DilationSource{-1, -1})
		naiveDepthwise(&v, func(i, j, k int) {
			if sum := x[j] + w[k]; sum > want[i] {
				want[i], source[i] = sum, DilationSource{j, k}
			}
		})
		got, from := make([]float64, n), make([]DilationSource, n)
		Dilate(kernel.Serial, &v, got, x, w, from)
		for i := range want {
			if got[i] != want[i] || from[i] != source[i] {
				t.Fatalf("%d channels: result %d is %v of %v, want %v of %v", v.C, i, got[i], from[i], want[i], source[i])
			}
		}
	}
}
