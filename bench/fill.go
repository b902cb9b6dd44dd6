package main

import (
	"math"

	"github.com/gorge-tf/gorge/tf"
)

// hash is the formula that fills tensors with the same values in any language,
// in unsigned 32-bit arithmetic that wraps round.
func hash(seed uint32, i int) uint32 {
	h := uint32(i)*0x9E3779B1 + seed*0x85EBCA77 + 0x165667B1
	h ^= h >> 16
	h *= 0x85EBCA6B
	h ^= h >> 13
	h *= 0xC2B2AE35
	return h ^ h>>16
}

// uniform returns n values in [-scale, scale).
func uniform(seed uint32, n int, scale float64) []float32 {
	out := make([]float32, n)
	for i := range out {
		out[i] = float32(int32(hash(seed, i)>>8)-1<<23) * 0x1p-23 * float32(scale)
	}
	return out
}

// uniform64 is uniform in float64.
func uniform64(seed uint32, n int, scale float64) []float64 {
	out := make([]float64, n)
	for i := range out {
		out[i] = float64(int32(hash(seed, i)>>8)-1<<23) * 0x1p-23 * scale
	}
	return out
}

// positive returns n values in [0, 1).
func positive(seed uint32, n int) []float32 {
	out := make([]float32, n)
	for i := range out {
		out[i] = float32(hash(seed, i)>>8) * 0x1p-24
	}
	return out
}

// labels returns n integers in [0, classes).
func labels(seed uint32, n, classes int) []int32 {
	out := make([]int32, n)
	for i := range out {
		out[i] = int32(hash(seed, i) % uint32(classes))
	}
	return out
}

// weight returns the initial value of the k-th weight [in out] of a model.
func weight(k, in, out int) []float32 {
	return uniform(uint32(k), in*out, float64(float32(math.Sqrt(6/float64(in+out)))))
}

// tensor wraps data, which is known to fit the shape.
func tensor[T tf.Elem](data []T, shape ...int) *tf.Tensor {
	t, err := tf.FromSlice(data, shape...)
	if err != nil {
		panic(err)
	}
	return t
}

// batch is what one training step is fed.
type batch []*tf.Tensor

// imageBatches returns n batches of images with labels.
func imageBatches(n, size int, shape ...int) []batch {
	per := size
	for _, d := range shape {
		per *= d
	}
	x, y := positive(1001, n*per), labels(1002, n*size, 10)
	out := make([]batch, n)
	for j := range out {
		out[j] = batch{tensor(x[j*per:(j+1)*per:(j+1)*per], append([]int{size}, shape...)...), tensor(y[j*size:(j+1)*size:(j+1)*size], size)}
	}
	return out
}
