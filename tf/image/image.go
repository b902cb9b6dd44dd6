// Package image works on images in graphs: TensorFlow's module tf.image. An
// image is [height width channels], a batch of them [batch height width
// channels]; functions take either unless they say otherwise. What reads and
// writes files, and the operations that these functions are made of, are in
// package tf/ops/image.
//
// Integers go from 0 to the greatest of their type, floating-point numbers from
// 0 to 1. Functions that adjust colors compute in float32, or float16 for images
// of that type, and return images of the shape and type that they got.
//
// The number of dimensions has to be known while the graph is built: most functions
// refuse another image with INVALID_ARGUMENT. Where an operation does not know it,
// as when it decodes files of any form, the program says so:
// x.SetShape(tf.Shape{-1, -1, 3}).
package image

import (
	"fmt"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/ops"
)

// failed is the output of a function that refuses its arguments.
func failed(x tf.Output, name, format string, args ...any) tf.Output {
	return tf.Failed(x.Graph(), name, tf.Errorf(tf.InvalidArgument, format, args...)).Output(0)
}

// scoped adds what f adds under the name of a function of TensorFlow's, if x is
// an image or a batch of them.
func scoped(x tf.Output, name string, f func() tf.Output) (y tf.Output) {
	if x.Err() != nil {
		return x
	}
	if n := len(x.Shape()); n != 3 && n != 4 {
		return failed(x, name, "'image' (shape %v) must have either 3 or 4 dimensions.", x.Shape())
	}
	x.Graph().Scope(name, func() { y = f() })
	return y
}

// ints adds a vector.
func ints(g *tf.Graph, v ...int) tf.Output {
	t := core.NewTensor(tf.Int32, tf.Shape{len(v)})
	for i, n := range v {
		if core.Data[int32](t)[i] = int32(n); n != int(int32(n)) {
			return tooLarge(g, n)
		}
	}
	return ops.ConstValue(g, t)
}

// scalar adds a size or a place.
func scalar(g *tf.Graph, n int) tf.Output {
	if n != int(int32(n)) {
		return tooLarge(g, n)
	}
	return ops.Scalar(g, int32(n))
}

// tooLarge is what stands for a number that sizes and places cannot be: without the error
// some of its bits would be left.
func tooLarge(g *tf.Graph, n int) tf.Output {
	return tf.Failed(g, "Const", tf.Errorf(tf.InvalidArgument, "sizes and places in images must be of type int32, got %d", n)).Output(0)
}

// as adds a constant in the type of x.
func as(x tf.Output, v float64) tf.Output {
	t, err := core.ScalarOf(x.DType(), v)
	if err != nil { // of the narrow integers
		return ops.Cast(ops.Scalar(x.Graph(), v), x.DType())
	}
	return ops.ConstValue(x.Graph(), t)
}

// first returns the dimension of height: there is a batch before it or not.
func first(x tf.Output) int { return len(x.Shape()) - 3 }

// sizeAt returns the size of dimension d, as a constant if it is known. An image that
// could not be made has none.
func sizeAt(x tf.Output, d int) tf.Output {
	if x.Err() != nil {
		return x
	}
	if n := x.Shape()[d]; n >= 0 {
		return ops.Scalar(x.Graph(), int32(n))
	}
	g := x.Graph()
	part := ops.Slice(ops.Shape(x), ints(g, d), ints(g, 1))
	return ops.Reshape(part, ops.ConstValue(g, core.NewTensor(tf.Int32, tf.Shape{0})))
}

// heightAndWidth returns those sizes as a vector.
func heightAndWidth(x tf.Output) tf.Output {
	return ops.Pack([]tf.Output{sizeAt(x, first(x)), sizeAt(x, first(x)+1)})
}

// batched calls f with a batch, of one image if x is none, and returns what f
// does in the form of x.
func batched(x tf.Output, f func(x tf.Output) tf.Output) tf.Output {
	if len(x.Shape()) == 4 {
		return f(x)
	}
	return ops.Squeeze(f(ops.ExpandDims(x, ops.Scalar(x.Graph(), int32(0)))), []int{0})
}

// check refuses values that are known to be wrong.
func check(rules ...rule) error {
	for _, r := range rules {
		if !r.holds {
			return fmt.Errorf("%s", r.says)
		}
	}
	return nil
}

// A rule is what arguments have to keep.
type rule struct {
	holds bool
	says  string
}
