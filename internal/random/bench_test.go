package random

import "testing"

// BenchmarkFill is how fast streams fill a million elements.
func BenchmarkFill(b *testing.B) {
	out, ints := make([]float32, 1<<20), make([]int32, 1<<20)
	for name, fill := range map[string]func(){
		"uniform":   func() { UniformFloat32(New(1, 2), 0, out) },
		"normal":    func() { NormalFloat32(New(1, 2), 0, out) },
		"truncated": func() { TruncatedNormalFloat32(New(1, 2), 0, out) },
		"integers":  func() { UniformInt(New(1, 2), 0, 3, 1000, ints) },
	} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(4 << 20)
			for b.Loop() {
				fill()
			}
		})
	}
}
