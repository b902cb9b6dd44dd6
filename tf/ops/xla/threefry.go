package xla

import (
	"slices"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/ops"
)

// threeFry makes bits by Threefry 2x32 (Salmon et al., SC 2011), two of 32 at each step.
// Tensors of 32 bits are made of two halves, along a dimension that XLA chooses.
func (b *bitGenerator) threeFry() (tf.Output, int) {
	key := words(ops.Squeeze(b.key, []int{0}))
	if b.d == tf.Uint64 {
		y := twoByThirtyTwo(b.inputs(b.n), key)
		bits := ops.BitwiseOr(ops.Cast(y[0], tf.Uint64), ops.LeftShift(ops.Cast(y[1], tf.Uint64), ops.Scalar(b.g, uint64(32))))
		return ops.Reshape(bits, b.shape), b.n
	}
	shape := b.shape
	if len(shape) == 0 {
		shape = []int{1}
	}
	split := halved(shape)
	half := (shape[split] + 1) / 2
	steps := half
	for d, n := range shape {
		if d != split {
			steps *= n
		}
	}
	y := twoByThirtyTwo(b.inputs(steps), key)
	halves := slices.Insert(slices.Clone(shape), split+1, 1)
	halves[split] = half
	for i := range y {
		y[i] = ops.Reshape(y[i], halves)
	}
	whole := slices.Clone(shape)
	whole[split] = 2 * half
	bits := ops.Reshape(ops.Concat(split+1, y), whole)
	bits = ops.Slice(bits, make([]int, len(shape)), shape)
	return ops.Reshape(bits, b.shape), steps
}

// halved returns the dimension that is halved: the first even one, else the first of
// the greatest.
func halved(shape []int) int {
	for d, n := range shape {
		if n%2 == 0 {
			return d
		}
	}
	return slices.Index(shape, slices.Max(shape))
}

// inputs returns the lower and the upper halves of n counters.
func (b *bitGenerator) inputs(n int) []tf.Output {
	steps := ops.Cast(upTo(b.g, known(n)), tf.Uint64)
	return words(ops.AddV2(ops.Slice(b.counter, []int{0}, []int{1}), steps))
}

// words returns the lower and the upper halves of numbers of 64 bits.
func words(x tf.Output) []tf.Output {
	return []tf.Output{ops.Cast(x, tf.Uint32), ops.Cast(ops.RightShift(x, ops.Scalar(x.Graph(), uint64(32))), tf.Uint32)}
}

// rotations are by how many bits the rounds rotate, four rounds after four others.
var rotations = [2][4]uint32{{13, 15, 26, 6}, {17, 29, 16, 24}}

// twoByThirtyTwo applies the 20 rounds of Threefry 2x32.
func twoByThirtyTwo(in, key []tf.Output) []tf.Output {
	g := in[0].Graph()
	parity := ops.Scalar(g, uint32(0x1BD11BDA))
	ks := []tf.Output{key[0], key[1], ops.BitwiseXor(ops.BitwiseXor(key[0], key[1]), parity)}
	x, y := ops.AddV2(in[0], ks[0]), ops.AddV2(in[1], ks[1])
	for i := range 5 {
		for _, r := range rotations[i%2] {
			x = ops.AddV2(x, y)
			left := ops.LeftShift(y, ops.Scalar(g, r))
			y = ops.BitwiseXor(ops.BitwiseOr(left, ops.RightShift(y, ops.Scalar(g, 32-r))), x)
		}
		x = ops.AddV2(x, ks[(i+1)%3])
		y = ops.AddV2(ops.AddV2(y, ks[(i+2)%3]), ops.Scalar(g, uint32(i+1)))
	}
	return []tf.Output{x, y}
}
