package memory

import (
	"math"
	"unsafe"
)

// tiny is the size of scratch memory below which it is not worth counting.
const tiny = 1 << 10

// Make is make([]T, n) within the budget. It panics with [*Exhausted] if n
// elements are not to be had, which the code that runs kernels makes an error.
func Make[T any](n int) []T {
	s, err := TryMake[T](n)
	if err != nil {
		panic(err)
	}
	return s
}

// TryMake is Make that returns the error.
func TryMake[T any](n int) ([]T, error) {
	var z T
	bytes, err := product(n, int(unsafe.Sizeof(z)))
	if err != nil {
		return nil, err
	}
	switch {
	case bytes < tiny:
		return make([]T, n), nil
	case bytes < large:
		return make([]T, n), process.few(bytes)
	}
	if err := process.take(int64(bytes)); err != nil {
		return nil, err
	}
	defer process.allocated(int64(bytes))
	s := make([]T, n)
	adviseHuge(unsafe.Pointer(unsafe.SliceData(s)), bytes)
	return s, nil
}

// Size is n·size bytes. It panics with [*Exhausted] if there is no such size.
func Size(n, size int) int {
	bytes, err := product(n, size)
	if err != nil {
		panic(err)
	}
	return bytes
}

// product is n·size, or an error if there is no such size.
func product(n, size int) (int, error) {
	if n < 0 || n > math.MaxInt/2/max(size, 1) {
		return 0, &Exhausted{Asked: math.MaxInt64, InUse: process.measure(), Limit: process.most()}
	}
	return n * size, nil
}

// Room says that the caller is about to allocate n bytes by other means than
// those of this package: strings, say, or lists that grow. It panics with
// [*Exhausted] if they are not to be had.
func Room(n int) {
	if err := TryRoom(n); err != nil {
		panic(err)
	}
}

// TryRoom is Room that returns the error.
func TryRoom(n int) error {
	if n < large {
		return process.few(n)
	}
	if err := process.take(int64(n)); err != nil {
		return err
	}
	process.allocated(int64(n)) // bound keeps it until the next measurement
	return nil
}
