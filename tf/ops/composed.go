package ops

import "github.com/gorge-tf/gorge/tf"

// scoped returns what f builds of x in a scope. If x cannot be computed, it is
// x itself, which carries the error.
func scoped(scope string, x tf.Output, f func() tf.Output) (y tf.Output) {
	if x.Err() != nil {
		return x
	}
	x.Graph().Scope(scope, func() { y = f() })
	return y
}

// refused returns an Output that carries an error of a composed function.
func refused(x tf.Output, name, format string, args ...any) tf.Output {
	return tf.Failed(x.Graph(), name, tf.Errorf(tf.InvalidArgument, format, args...)).Output(0)
}

// dim returns the size of x along an axis, an int32 scalar: a constant where it is
// known while the graph is built. The axis may count from the end.
func dim(x tf.Output, axis int) tf.Output {
	s := x.Shape()
	if i, ok := wrapAxis(axis, len(s)); ok && s[i] >= 0 {
		return intScalar(x, tf.Int32, s[i])
	}
	if axis < 0 && s == nil {
		return GatherV2(Shape(x), Rank(x).Add(axis), intScalar(x, tf.Int32, 0))
	}
	i, ok := wrapAxis(axis, len(s))
	if !ok && s != nil {
		return refused(x, "Shape", "an axis must be in [-%d, %d), got %d", len(s), len(s), axis)
	}
	if s == nil {
		i = axis
	}
	return GatherV2(Shape(x), intScalar(x, tf.Int32, i), intScalar(x, tf.Int32, 0))
}

// widest returns x in a type in which sums are exact enough: half precision becomes
// float32.
func widest(x tf.Output) tf.Output {
	if d := x.DType().Base(); d == tf.Float16 || d == tf.BFloat16 {
		return castTo(x, tf.Float32)
	}
	return x
}
