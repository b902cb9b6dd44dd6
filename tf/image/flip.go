package image

import (
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/ops"
)

// FlipLeftRight mirrors images left to right.
func FlipLeftRight(x tf.Output) tf.Output {
	return scoped(x, "flip_left_right", func() tf.Output { return reversed(x, 1) })
}

// FlipUpDown mirrors images up to down.
func FlipUpDown(x tf.Output) tf.Output {
	return scoped(x, "flip_up_down", func() tf.Output { return reversed(x, 0) })
}

// reversed turns dimensions around: 0 is height, 1 width.
func reversed(x tf.Output, dims ...int) tf.Output {
	axes := make([]int, len(dims))
	for i, d := range dims {
		axes[i] = first(x) + d
	}
	return ops.ReverseV2(x, ints(x.Graph(), axes...))
}

// RandomFlipLeftRight mirrors each image with a probability of one half. Option ops.Seed
// sets the seed.
func RandomFlipLeftRight(x tf.Output, opts ...tf.Option) tf.Output {
	return scoped(x, "random_flip_left_right", func() tf.Output { return randomFlip(x, 1, opts) })
}

// RandomFlipUpDown is RandomFlipLeftRight up to down.
func RandomFlipUpDown(x tf.Output, opts ...tf.Option) tf.Output {
	return scoped(x, "random_flip_up_down", func() tf.Output { return randomFlip(x, 0, opts) })
}

// randomFlip flips an image if a number is less than a half, and those of a batch
// whose numbers are not.
func randomFlip(x tf.Output, dim int, opts []tf.Option) tf.Output {
	g := x.Graph()
	if len(x.Shape()) == 3 {
		u := ops.RandomUniform(g, tf.Shape{}, tf.Float32, opts...)
		return ops.SelectV2(ops.Less(u, ops.Scalar(g, float32(0.5))), reversed(x, dim), x)
	}
	u := ops.RandomUniform(nil, ops.Reshape(sizeAt(x, 0), ints(g, 1)), tf.Float32, opts...)
	flips := ops.Cast(ops.Round(ops.Reshape(u, ints(g, -1, 1, 1, 1))), x.DType())
	return ops.Add(ops.Mul(flips, reversed(x, dim)), ops.Mul(ops.Sub(as(flips, 1), flips), x))
}

// Transpose exchanges height and width.
func Transpose(x tf.Output) tf.Output {
	return scoped(x, "transpose", func() tf.Output { return transposed(x) })
}

func transposed(x tf.Output) tf.Output {
	if len(x.Shape()) == 3 {
		return ops.Transpose(x, ints(x.Graph(), 1, 0, 2))
	}
	return ops.Transpose(x, ints(x.Graph(), 0, 2, 1, 3))
}

// Rot90 turns images counterclockwise by k · 90°.
func Rot90(x tf.Output, k int) tf.Output {
	return scoped(x, "rot90", func() tf.Output {
		switch (k%4 + 4) % 4 {
		case 1:
			return transposed(reversed(x, 1))
		case 2:
			return reversed(x, 0, 1)
		case 3:
			return reversed(transposed(x), 1)
		}
		return ops.Identity(x)
	})
}
