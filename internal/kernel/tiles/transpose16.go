package tiles

// Transpose16 exchanges rows and columns of 16 times 16 elements of 4 bytes, which are
// ldd and lds apart. It is nil where no instructions are made for it.
var Transpose16 func(dst, src *float32, ldd, lds int)
