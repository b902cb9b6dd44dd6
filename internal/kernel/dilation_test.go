package kernel

import "testing"

func TestDilate(t *testing.T) {
	for _, v := range depthwiseCases() {
		x, w := waves(v.Batch*v.linesIn()*v.In[2]*v.C), waves(v.taps()*v.C)
		n := v.Batch * v.linesOut() * v.Out[2] * v.C
		want, source := make([]float64, n), make([]DilationSource, n)
		Fill(want, Lowest[float64]())
		Fill(source, DilationSource{-1, -1})
		naiveDepthwise(&v, func(i, j, k int) {
			if sum := x[j] + w[k]; sum > want[i] {
				want[i], source[i] = sum, DilationSource{j, k}
			}
		})
		got, from := make([]float64, n), make([]DilationSource, n)
		Dilate(Serial, &v, got, x, w, from)
		for i := range want {
			if got[i] != want[i] || from[i] != source[i] {
				t.Fatalf("%d channels: result %d is %v of %v, want %v of %v", v.C, i, got[i], from[i], want[i], source[i])
			}
		}
	}
}
