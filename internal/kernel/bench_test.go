package kernel

import (
	"fmt"
	"testing"
)

func BenchmarkMatMul(b *testing.B) {
	for _, s := range []struct{ m, k, n int }{
		{64, 64, 64}, {128, 128, 128}, {256, 256, 256}, {512, 512, 512}, {1024, 1024, 1024},
		{128, 784, 512}, {100, 784, 512}, {32, 1024, 1024}, {100, 128, 10}, {512, 784, 100},
	} {
		for trans := range 3 {
			name := fmt.Sprintf("%dx%dx%d/%s", s.m, s.k, s.n, []string{"plain", "transA", "transB"}[trans])
			b.Run(name, func(b *testing.B) {
				g := NewGemm(s.m, s.n, s.k, trans == 1, trans == 2)
				x, y, c := random[float32](s.m*s.k, 1), random[float32](s.k*s.n, 2), make([]float32, s.m*s.n)
				for b.Loop() {
					MatMul(Serial, g, c, x, y, Epilogue[float32]{})
				}
				b.ReportMetric(2*float64(s.m)*float64(s.n)*float64(s.k)*float64(b.N)/float64(b.Elapsed().Nanoseconds()), "GFLOP/s")
			})
		}
	}
}

func BenchmarkElementwise(b *testing.B) {
	for _, n := range []int{4096, 1 << 20} {
		x, y, z := random[float32](n, 1), random[float32](n, 2), make([]float32, n)
		for name, f := range map[string]func(){
			"Add": func() { Add(z, x, y) }, "Relu": func() { Relu(z, x) }, "Exp": func() { Exp(z, x) }, "Log": func() { Log(z, y) },
			"Tanh": func() { Tanh(z, x) }, "Sigmoid": func() { Sigmoid(z, x) }, "Sum": func() { Sum(x) },
			"Softmax10":   func() { Softmax(Serial, z[:n/10*10], x[:n/10*10], 10) },
			"Softmax1000": func() { Softmax(Serial, z[:n/1000*1000], x[:n/1000*1000], 1000) },
		} {
			b.Run(fmt.Sprint(name, "/", n), func(b *testing.B) {
				for b.Loop() {
					f()
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/element")
			})
		}
	}
}
