package kernel_test

import (
	"fmt"
	"testing"

	"github.com/gorge-tf/gorge/internal/kernel"
	"github.com/gorge-tf/gorge/internal/kernel/conv"
	"github.com/gorge-tf/gorge/internal/kernel/elementwise"
	"github.com/gorge-tf/gorge/internal/kernel/gemm"
	"github.com/gorge-tf/gorge/internal/kernel/kerneltest"
	"github.com/gorge-tf/gorge/internal/kernel/normalization"
	"github.com/gorge-tf/gorge/internal/kernel/pool"
	"github.com/gorge-tf/gorge/internal/kernel/reduction"
	"github.com/gorge-tf/gorge/internal/kernel/sliding"
)

func BenchmarkMatMul(b *testing.B) {
	for _, s := range []struct{ m, k, n int }{
		{64, 64, 64}, {128, 128, 128}, {256, 256, 256}, {512, 512, 512}, {1024, 1024, 1024},
		{128, 784, 512}, {100, 784, 512}, {32, 1024, 1024}, {100, 128, 10}, {512, 784, 100},
	} {
		for trans := range 3 {
			name := fmt.Sprintf("%dx%dx%d/%s", s.m, s.k, s.n, []string{"plain", "transA", "transB"}[trans])
			b.Run(name, func(b *testing.B) {
				g := gemm.NewGemm(s.m, s.n, s.k, trans == 1, trans == 2)
				x, y, c := kerneltest.Random[float32](s.m*s.k, 1), kerneltest.Random[float32](s.k*s.n, 2), make([]float32, s.m*s.n)
				for b.Loop() {
					gemm.MatMul(kernel.Serial, g, c, x, y, gemm.Epilogue[float32]{})
				}
				b.ReportMetric(2*float64(s.m)*float64(s.n)*float64(s.k)*float64(b.N)/float64(b.Elapsed().Nanoseconds()), "GFLOP/s")
			})
		}
	}
}

func BenchmarkElementwise(b *testing.B) {
	for _, n := range []int{4096, 1 << 20} {
		x, y, z := kerneltest.Random[float32](n, 1), kerneltest.Random[float32](n, 2), make([]float32, n)
		for name, f := range map[string]func(){
			"Add": func() { elementwise.Add(z, x, y) }, "Relu": func() { elementwise.Relu(z, x) }, "Exp": func() { elementwise.Exp(z, x) }, "Log": func() { elementwise.Log(z, y) },
			"Tanh": func() { elementwise.Tanh(z, x) }, "Sigmoid": func() { elementwise.Sigmoid(z, x) }, "Sum": func() { reduction.Sum(x) },
			"Softmax10":   func() { normalization.Softmax(kernel.Serial, z[:n/10*10], x[:n/10*10], 10) },
			"Softmax1000": func() { normalization.Softmax(kernel.Serial, z[:n/1000*1000], x[:n/1000*1000], 1000) },
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

// BenchmarkLayers measures what stands between convolutions.
func BenchmarkLayers(b *testing.B) {
	const c = 64
	big, small := kerneltest.Random[float32](8*112*112*c, 1), make([]float32, 8*56*56*c)
	pooled := func(k int) *pool.Pool {
		return &pool.Pool{Window: sliding.Window{In: [3]int{1, 112, 112}, Out: [3]int{1, 56, 56}, Kernel: [3]int{1, k, k}, Stride: [3]int{1, 2, 2}, Dilation: [3]int{1, 1, 1}}, Batch: 8, C: c}
	}
	x, y, dx := kerneltest.Random[float32](32*32*32*c, 1), kerneltest.Random[float32](32*32*32*c, 2), make([]float32, 32*32*32*c)
	norm := &normalization.BatchNorm{Rows: 32 * 32 * 32, C: c, Epsilon: 1e-5}
	mean, variance, scale := make([]float32, c), make([]float32, c), make([]float32, c)
	at := make([]int64, 4096)
	for _, k := range []struct {
		name string
		n    int
		f    func()
	}{
		{"AvgPool2x2", len(big), func() { pool.AvgPool(kernel.Serial, pooled(2), small, big) }},
		{"MaxPool3x3", len(big), func() { pool.MaxPool(kernel.Serial, pooled(3), small, big) }},
		{"Moments", len(x), func() { norm.Moments(kernel.Serial, mean, variance, x) }},
		{"Normalize", len(x), func() { norm.Normalize(kernel.Serial, dx, x, scale, mean, mean, variance) }},
		{"NormGrad", len(x), func() { norm.Grad(kernel.Serial, true, nil, dx, mean, scale, y, x, scale, mean, variance) }},
		{"ArgMax", 4096 * 512, func() { reduction.ArgMax(kernel.Serial, at, x, 4096, 512, 1) }},
	} {
		b.Run(k.name, func(b *testing.B) {
			for b.Loop() {
				k.f()
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(k.n), "ns/element")
		})
	}
}

// BenchmarkConvolution measures the convolutions of networks for images.
func BenchmarkConvolution(b *testing.B) {
	for _, s := range []struct{ batch, size, in, out, kernel, stride int }{
		{8, 56, 64, 64, 3, 1}, {8, 56, 128, 128, 3, 2}, {8, 224, 3, 64, 7, 2}, {64, 28, 1, 32, 5, 1}, {64, 14, 32, 64, 5, 1},
		{64, 32, 3, 16, 3, 1}, {64, 32, 16, 16, 3, 1}, {64, 32, 16, 32, 3, 2}, {64, 16, 32, 32, 3, 1}, {64, 8, 64, 64, 3, 1}, {1, 8, 64, 64, 3, 1},
		{8, 14, 256, 256, 3, 1}, {8, 7, 512, 512, 3, 1},
	} {
		v := &conv.Conv{Batch: s.batch, InC: s.in, OutC: s.out, Groups: 1}
		out := (s.size + s.stride - 1) / s.stride
		v.In, v.Out, v.Dilation = [3]int{1, s.size, s.size}, [3]int{1, out, out}, [3]int{1, 1, 1}
		v.Kernel, v.Stride = [3]int{1, s.kernel, s.kernel}, [3]int{1, s.stride, s.stride}
		pad := max(0, (out-1)*s.stride+s.kernel-s.size) / 2
		v.Pad = [3]int{0, pad, pad}
		x, w := kerneltest.Random[float32](v.Batch*s.size*s.size*s.in, 1), kerneltest.Random[float32](v.Taps()*s.in*s.out, 2)
		y, dx, dw := kerneltest.Random[float32](v.Batch*out*out*s.out, 3), make([]float32, len(x)), make([]float32, len(w))
		for name, f := range map[string]func(){
			"forward": func() { conv.Convolve(kernel.Serial, v, y, x, w, gemm.Epilogue[float32]{}) },
			"images":  func() { conv.ConvolveBackInput(kernel.Serial, v, dx, y, w) },
			"filters": func() { conv.ConvolveBackFilter(kernel.Serial, v, dw, x, y) },
		} {
			b.Run(fmt.Sprintf("%dx%dx%dx%d/%dx%ds%d/%d/%s", s.batch, s.size, s.size, s.in, s.kernel, s.kernel, s.stride, s.out, name), func(b *testing.B) {
				for b.Loop() {
					f()
				}
				b.ReportMetric(2*float64(len(y)*v.Taps()*s.in)*float64(b.N)/float64(b.Elapsed().Nanoseconds()), "GFLOP/s")
			})
		}
	}
}
