package kernel

// A Level is a set of vector instructions that loops are written for.
type Level int

const (
	// Portable is Go alone.
	Portable Level = iota
	// AVX2 stands for processors with AVX2, FMA, BMI2 and F16C.
	AVX2
	// AVX512 stands for processors with AVX-512 F, DQ, BW and VL as well.
	AVX512
)

// String returns the name of a level.
func (l Level) String() string { return [...]string{"portable", "avx2", "avx512"}[l] }

// choices holds what each package of loops has said by Dispatch. It grows while
// packages are initialized, by one goroutine, and is only read afterwards.
var choices []func(Level)

// Dispatch sets loops, what a package runs on, to the one of two values that suits
// the processor, and to its zero value, which stands for loops in Go, if neither
// does. Packages call it while they are initialized.
func Dispatch[T any](loops *T, avx2, avx512 T) {
	use := func(l Level) {
		var portable T
		*loops = [...]T{portable, avx2, avx512}[l]
	}
	choices = append(choices, use)
	use(Levels()[0])
}

// Use makes all packages of loops run on a level, one of [Levels]. Tests compare
// levels by it; no loop may be running.
func Use(l Level) {
	for _, use := range choices {
		use(l)
	}
}
