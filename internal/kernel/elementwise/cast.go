package elementwise

import (
	"math"

	"github.com/gorge-tf/gorge/internal/kernel"
	"github.com/gorge-tf/gorge/internal/numeric"
)

// Cast converts src to dst, two slices of equal length of bool, a Number,
// Half or BFloat16, as C does on x86: floating point numbers are truncated
// towards zero, integers wrap around, complex numbers lose the imaginary
// part, everything but zero is true. Half and BFloat16 are rounded to the
// nearest by way of float32. It reports false for types it does not know.
func Cast(dst, src any) bool {
	switch src := src.(type) {
	case []bool:
		return castBool(dst, src)
	case []int8:
		return castInteger(dst, src)
	case []int16:
		return castInteger(dst, src)
	case []int32:
		return castInteger(dst, src)
	case []int64:
		return castInteger(dst, src)
	case []uint8:
		return castInteger(dst, src)
	case []uint16:
		return castInteger(dst, src)
	case []uint32:
		return castInteger(dst, src)
	case []uint64:
		return castInteger(dst, src)
	case []float32:
		return castFloat(dst, src)
	case []float64:
		return castFloat(dst, src)
	case []numeric.Half:
		return castHalf(dst, src)
	case []numeric.BFloat16:
		return castHalf(dst, src)
	case []complex64:
		return castComplex(dst, src, func(v complex64) float32 { return real(v) })
	case []complex128:
		return castComplex(dst, src, func(v complex128) float64 { return real(v) })
	}
	return false
}

// castReal converts to the floating point and complex types and to bool,
// where integers and floats convert alike.
func castReal[S numeric.Real](dst any, src []S) bool {
	switch dst := dst.(type) {
	case []bool:
		if floatsToBools(dst, src) {
			return true
		}
		kernel.Map2(dst, src, func(v S) bool { return v != 0 })
	case []float32:
		if bytesToFloats(dst, src) {
			return true
		}
		if x, ok := any(src).([]int32); ok && simd.fromInt32 != nil {
			simd.fromInt32(dst, kernel.Words[float32](x)[:len(dst)])
			return true
		}
		n := convertVectors(simd.narrow, dst, src)
		kernel.Map2(dst[n:], src[n:], func(v S) float32 { return float32(v) })
	case []float64:
		n := convertVectors(simd.widen, dst, src)
		kernel.Map2(dst[n:], src[n:], func(v S) float64 { return float64(v) })
	case []numeric.Half:
		if x, ok := kernel.AsFloat32(src); ok {
			Narrow(dst, x[:len(dst)])
			return true
		}
		kernel.Map2(dst, src, func(v S) numeric.Half { return numeric.HalfFromFloat32(float32(v)) })
	case []numeric.BFloat16:
		if x, ok := kernel.AsFloat32(src); ok {
			Narrow(dst, x[:len(dst)])
			return true
		}
		kernel.Map2(dst, src, func(v S) numeric.BFloat16 { return numeric.BFloat16FromFloat32(float32(v)) })
	case []complex64:
		kernel.Map2(dst, src, func(v S) complex64 { return complex(float32(v), 0) })
	case []complex128:
		kernel.Map2(dst, src, func(v S) complex128 { return complex(float64(v), 0) })
	default:
		return false
	}
	return true
}

// convertVectors runs a loop of vectors, if there is one, over the first so many
// elements as it returns. The vectors convert what is an S.
func convertVectors[D, S any](loop func(dst *D, src *S, n int), dst []D, src any) (done int) {
	x, ok := src.([]S)
	if !ok || loop == nil {
		return 0
	}
	x = x[:len(dst)]
	for len(dst)-done >= 16 {
		n := min(len(dst)-done, kernel.VectorChunk) &^ 15
		loop(&dst[done], &x[done], n)
		done += n
	}
	return done
}

func castInteger[S numeric.Integer](dst any, src []S) bool {
	switch dst := dst.(type) {
	case []int8:
		if wordsToBytes(dst, src) {
			return true
		}
		kernel.Map2(dst, src, func(v S) int8 { return int8(v) })
	case []int16:
		kernel.Map2(dst, src, func(v S) int16 { return int16(v) })
	case []int32:
		n := convertVectors(simd.lowWords, dst, src)
		kernel.Map2(dst[n:], src[n:], func(v S) int32 { return int32(v) })
	case []int64:
		kernel.Map2(dst, src, func(v S) int64 { return int64(v) })
	case []uint8:
		kernel.Map2(dst, src, func(v S) uint8 { return uint8(v) })
	case []uint16:
		kernel.Map2(dst, src, func(v S) uint16 { return uint16(v) })
	case []uint32:
		kernel.Map2(dst, src, func(v S) uint32 { return uint32(v) })
	case []uint64:
		kernel.Map2(dst, src, func(v S) uint64 { return uint64(v) })
	default:
		return castReal(dst, src)
	}
	return true
}

func castFloat[S numeric.Float](dst any, src []S) bool {
	switch dst := dst.(type) {
	case []int8:
		if !truncateToBytes(kernel.Words[uint8](dst), src) {
			kernel.Map2(dst, src, func(v S) int8 { return int8(truncate32(v)) })
		}
	case []int16:
		kernel.Map2(dst, src, func(v S) int16 { return int16(truncate32(v)) })
	case []int32:
		if x, ok := kernel.AsFloat32(src); ok {
			truncateF32(dst, x)
			return true
		}
		n := convertVectors(simd.truncateDouble, dst, src)
		kernel.Map2(dst[n:], src[n:], truncate32[S])
	case []int64:
		n := convertVectors(simd.truncateLong, dst, src)
		kernel.Map2(dst[n:], src[n:], truncate64[S])
	case []uint8:
		if !truncateToBytes(dst, src) {
			kernel.Map2(dst, src, func(v S) uint8 { return uint8(truncate32(v)) })
		}
	case []uint16:
		kernel.Map2(dst, src, func(v S) uint16 { return uint16(truncate32(v)) })
	case []uint32:
		kernel.Map2(dst, src, func(v S) uint32 { return uint32(truncate64(v)) })
	case []uint64:
		kernel.Map2(dst, src, truncateU64[S])
	default:
		return castReal(dst, src)
	}
	return true
}

// truncate32 answers with the least integer, as x86 does, for what does not
// fit and for NaN. Go leaves these cases to the processor.
func truncate32[S numeric.Float](v S) int32 {
	if v > math.MinInt32-1 && v < math.MaxInt32+1 {
		return int32(v)
	}
	return math.MinInt32
}

// truncateF32 is truncate32 for many numbers. That a number fits shows in its
// exponent; the least integer, which does not, is what the others become.
func truncateF32(dst []int32, src []float32) {
	if simd.truncate != nil {
		simd.truncate(kernel.Words[float32](dst), src[:len(dst)])
		return
	}
	const sign, tooLarge = 1 << 31, 0x4f000000 // 2^31
	src = src[:len(dst)]
	for i, v := range src {
		n := int32(math.MinInt32)
		if math.Float32bits(v)&^sign < tooLarge {
			n = int32(v)
		}
		dst[i] = n
	}
}

// truncate64 is truncate32 for 64 bits.
func truncate64[S numeric.Float](v S) int64 {
	if v >= -(1<<63) && v < 1<<63 {
		return int64(v)
	}
	return math.MinInt64
}

// truncateU64 converts negative numbers by way of int64, as compilers for x86
// do, so that -1 becomes the greatest number.
func truncateU64[S numeric.Float](v S) uint64 {
	if v >= 1<<63 && v < 1<<64 {
		return uint64(v-1<<63) | 1<<63
	}
	return uint64(truncate64(v))
}

func castBool(dst any, src []bool) bool {
	switch dst := dst.(type) {
	case []bool:
		copy(dst, src)
		return true
	case []float32:
		if byteToFloat.Run(len(dst), Along(src[:len(dst)]), Along(dst)) {
			return true
		}
	}
	return castBlocks(dst, src, func(y []uint8, x []bool) {
		kernel.Map2(y, x, func(v bool) uint8 {
			if v {
				return 1
			}
			return 0
		})
	})
}

func castHalf[H numeric.HalfFloat](dst any, src []H) bool {
	switch dst := dst.(type) {
	case []H:
		copy(dst, src)
		return true
	case []float32:
		Widen(dst, src)
		return true
	}
	return castBlocks(dst, src, Widen[H])
}

func castComplex[C numeric.Complex, F numeric.Float](dst any, src []C, re func(C) F) bool {
	switch dst := dst.(type) {
	case []complex64:
		kernel.Map2(dst, src, func(v C) complex64 { return complex64(v) })
		return true
	case []complex128:
		kernel.Map2(dst, src, func(v C) complex128 { return complex128(v) })
		return true
	}
	return castBlocks(dst, src, func(y []F, x []C) { kernel.Map2(y, x, re) })
}

// castBlocks converts by way of another type, a block at a time.
func castBlocks[M, S any](dst any, src []S, f func(y []M, x []S)) bool {
	buf := make([]M, min(len(src), widenBlock))
	for lo := 0; lo == 0 || lo < len(src); lo += widenBlock {
		hi := min(len(src), lo+widenBlock)
		b := buf[:hi-lo]
		f(b, src[lo:hi])
		if !Cast(part(dst, lo, hi), b) {
			return false
		}
	}
	return true
}

// part slices a slice of any element type that Cast knows.
func part(s any, lo, hi int) any {
	switch s := s.(type) {
	case []bool:
		return s[lo:hi]
	case []int8:
		return s[lo:hi]
	case []int16:
		return s[lo:hi]
	case []int32:
		return s[lo:hi]
	case []int64:
		return s[lo:hi]
	case []uint8:
		return s[lo:hi]
	case []uint16:
		return s[lo:hi]
	case []uint32:
		return s[lo:hi]
	case []uint64:
		return s[lo:hi]
	case []float32:
		return s[lo:hi]
	case []float64:
		return s[lo:hi]
	case []numeric.Half:
		return s[lo:hi]
	case []numeric.BFloat16:
		return s[lo:hi]
	case []complex64:
		return s[lo:hi]
	case []complex128:
		return s[lo:hi]
	}
	return nil
}
