package initializers

import (
	"math"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/ops"
)

// Values gives the elements of v, row-major, in the type of the variable: TensorFlow's constant of
// a list or an array. The last is repeated where there are fewer than the variable has, zeros if
// there are none; more are refused with INVALID_ARGUMENT. Parts of a larger variable have theirs.
func Values[T tf.Number](v []T) Initializer {
	return func(g *tf.Graph, d tf.DType, s tf.Shape) tf.Output {
		if g == nil {
			return refuse(nil, errNoGraph)
		}
		whole, at := within(g, s)
		n := whole.NumElements()
		if len(v) > n {
			return refuse(g, tf.Errorf(tf.InvalidArgument, "Too many elements provided. Takes at most %d, but got %d.", n, len(v)))
		}
		if len(v) == 0 {
			return Zeros(g, d, s)
		}
		t, err := tf.TensorOf(filledUp(v, n))
		if err == nil {
			err = holds(d, t)
		}
		if err != nil {
			return refuse(g, err)
		}
		x := ops.ConstTensor(g, t).Reshape(whole...)
		if !whole.Equal(s) {
			x = ops.Slice(x, at, s)
		}
		return castTo(x, d)
	}
}

// filledUp returns n elements, the last ones all alike.
func filledUp[T any](v []T, n int) []T {
	out := make([]T, n)
	for i := copy(out, v); i < n; i++ {
		out[i] = v[len(v)-1]
	}
	return out
}

func castTo(x tf.Output, d tf.DType) tf.Output {
	if x.DType() == d.Base() {
		return x
	}
	return x.Cast(d.Base())
}

// holds refuses elements that a variable of type d cannot have, in TensorFlow's words.
func holds(d tf.DType, t *tf.Tensor) error {
	if (d.Base() == tf.String) != (t.DType() == tf.String) || (d.Base() == tf.Bool) && t.DType() != tf.Bool {
		return tf.Errorf(tf.InvalidArgument, "Expected %v, but got %v of type '%v'.", d.Base(), t.At(0), t.DType())
	}
	if !d.IsInteger() || !t.DType().IsFloat() {
		return nil
	}
	for i := range t.Len() {
		if x, ok := number(t.At(i)); ok && x != math.Trunc(x) {
			return tf.Errorf(tf.InvalidArgument, "Expected %v, but got %v of type '%v'.", d.Base(), x, t.DType())
		}
	}
	return nil
}

func number(v any) (float64, bool) {
	switch x := v.(type) {
	case float32:
		return float64(x), true
	case float64:
		return x, true
	}
	return 0, false
}
