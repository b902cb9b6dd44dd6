package main

import (
	"context"
	"math/rand/v2"

	"github.com/gorge-tf/gorge/examples/internal/digits"
	"github.com/gorge-tf/gorge/tf"
)

// batcher hands out a training set in minibatches, shuffled anew each epoch.
type batcher struct {
	d     *digits.Set
	size  int
	order []int
	rng   *rand.Rand
}

func newBatcher(d *digits.Set, size int, seed int64) *batcher {
	b := &batcher{d: d, size: min(size, d.N()), order: make([]int, d.N()), rng: rand.New(rand.NewPCG(uint64(seed), 1))}
	for i := range b.order {
		b.order[i] = i
	}
	return b
}

// perEpoch is the number of whole batches in an epoch.
func (b *batcher) perEpoch() int { return b.d.N() / b.size }

func (b *batcher) shuffle() {
	b.rng.Shuffle(len(b.order), func(i, j int) { b.order[i], b.order[j] = b.order[j], b.order[i] })
}

// batch returns batch i of the epoch. Its tensors are new: a session may still
// hold those of the batch before.
func (b *batcher) batch(i int) (x, y *tf.Tensor, err error) {
	pixels := b.d.Size * b.d.Size
	xs, ys := make([]float32, 0, b.size*pixels), make([]int32, 0, b.size)
	for _, k := range b.order[i*b.size : (i+1)*b.size] {
		xs = append(xs, b.d.Pixels[k*pixels:(k+1)*pixels]...)
		ys = append(ys, b.d.Labels[k])
	}
	if x, err = tf.FromSlice(xs, b.size, pixels); err != nil {
		return nil, nil, err
	}
	y, err = tf.FromSlice(ys, b.size)
	return x, y, err
}

// fit trains m for some epochs and tells report of each step.
func fit(ctx context.Context, m model, b *batcher, epochs int, report func(epoch, examples int, loss float32)) error {
	for epoch := range epochs {
		b.shuffle()
		for i := range b.perEpoch() {
			x, y, err := b.batch(i)
			if err != nil {
				return err
			}
			loss, err := m.step(ctx, x, y)
			if err != nil {
				return err
			}
			report(epoch, b.size, loss)
		}
	}
	return nil
}

// mistakes returns the images of d that m gets wrong, and its guesses for all.
func mistakes(ctx context.Context, m model, d *digits.Set) (wrong []int, guesses []int64, err error) {
	x, err := tf.FromSlice(d.Pixels, d.N(), d.Size*d.Size)
	if err != nil {
		return nil, nil, err
	}
	if guesses, err = m.predict(ctx, x); err != nil {
		return nil, nil, err
	}
	for i, g := range guesses {
		if g != int64(d.Labels[i]) {
			wrong = append(wrong, i)
		}
	}
	return wrong, guesses, nil
}
