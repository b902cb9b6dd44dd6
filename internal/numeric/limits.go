package numeric

import "math"

// Lowest returns -Inf or the least integer of a type.
func Lowest[T Real]() T {
	var v T
	switch p := any(&v).(type) {
	case *float32:
		*p = float32(math.Inf(-1))
	case *float64:
		*p = math.Inf(-1)
	case *int8:
		*p = math.MinInt8
	case *int16:
		*p = math.MinInt16
	case *int32:
		*p = math.MinInt32
	case *int64:
		*p = math.MinInt64
	}
	return v
}

// Highest returns +Inf or the greatest integer of a type.
func Highest[T Real]() T {
	var v T
	switch p := any(&v).(type) {
	case *float32:
		*p = float32(math.Inf(1))
	case *float64:
		*p = math.Inf(1)
	default:
		// All bits set is -1 or the greatest; the least one less wraps to
		// the greatest.
		return Lowest[T]() - 1
	}
	return v
}
