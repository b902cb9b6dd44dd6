package elementwise

import "unsafe"

// compileInts makes loops of int32 run as machine code, a vector at a time: Go has no vectors.
func compileInts(l *Loops[int32, int32]) {
	plain, zip, scalarX, scalarY := *l, Compile(l.Lanes), Compile(l.Lanes), Compile(l.Lanes)
	l.Zip = func(z, x, y []int32) {
		if x, y = x[:len(z)], y[:len(z)]; !zip.Run(len(z), Along(x), Along(y), Along(z)) {
			plain.Zip(z, x, y)
		}
	}
	l.ScalarX = func(z []int32, x int32, y []int32) {
		if y = y[:len(z)]; !scalarX.Run(len(z), sharedInt(x), Along(y), Along(z)) {
			plain.ScalarX(z, x, y)
		}
	}
	l.ScalarY = func(z, x []int32, y int32) {
		if x = x[:len(z)]; !scalarY.Run(len(z), Along(x), sharedInt(y), Along(z)) {
			plain.ScalarY(z, x, y)
		}
	}
}

// sharedInt is Shared for a number.
func sharedInt(x int32) Stream { return Shared((*float32)(unsafe.Pointer(&x))) }
