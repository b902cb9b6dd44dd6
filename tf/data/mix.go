package data

import (
	"context"
	"math"

	"github.com/gorge-tf/gorge/internal/dataset"
	"github.com/gorge-tf/gorge/internal/kernel/elementwise"
	"github.com/gorge-tf/gorge/internal/random"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

// Random returns random numbers of 32 bits, as int64 scalars, without end:
// TensorFlow's for the seeds. Each iterator has the same. With both seeds 0 they
// differ from run to run.
func Random(seed, seed2 int64) *Dataset {
	return result(dataset.Random(dataset.NewSeeds(seed, seed2, false)), nil)
}

// Enumerate puts the number of each element, counted from start, before its
// components.
func (d *Dataset) Enumerate(start int64) *Dataset { return Zip(Range(start, math.MaxInt64), d) }

// A MixOptions adjusts ChooseFrom and SampleFrom.
type MixOptions struct {
	// StopOnEmpty ends the result when an input that has ended is chosen. Without
	// it, such an input is passed over until all have ended.
	StopOnEmpty bool
	// Weights are, for SampleFrom, how often an input is chosen in proportion to
	// others: one for each, none negative. nil: all alike.
	Weights []float64
	// Seed and Seed2 are those of SampleFrom, as of [Random].
	Seed, Seed2 int64
}

// ChooseFrom returns the next element of one of the inputs, always of the one
// whose number the selector gives, an int64 scalar. It ends with the selector.
// The inputs' elements must have the same types.
func ChooseFrom(selector *Dataset, o MixOptions, inputs ...*Dataset) *Dataset {
	all, err := inner(inputs)
	switch {
	case err != nil:
		return result(nil, err)
	case len(all) == 0:
		return result(nil, tf.Errorf(tf.InvalidArgument, "ChooseFrom needs a dataset to choose from, got none"))
	case selector == nil:
		return result(nil, errNilDataset)
	}
	return selector.with(func(in dataset.Dataset) (dataset.Dataset, error) { return dataset.Choose(in, all, o.StopOnEmpty) })
}

// SampleFrom returns the next element of one of the inputs, always of one that is
// chosen by chance, in TensorFlow's order for the weights and seeds. The inputs'
// elements must have the same types.
func SampleFrom(o MixOptions, inputs ...*Dataset) *Dataset {
	if _, err := inner(inputs); err != nil {
		return result(nil, err)
	}
	inputs, logits, err := o.logits(inputs)
	switch {
	case err != nil:
		return result(nil, err)
	case len(inputs) == 1:
		return inputs[0]
	}
	pick := func(_ context.Context, in []*core.Tensor) ([]*core.Tensor, error) {
		seed, out := core.Data[int64](in[0]), make([]int64, 1)
		random.Multinomial(random.FromSeed([2]int64(seed)), elementwise.Exp[float64], logits, len(logits), 1, out)
		return []*core.Tensor{core.Scalar(out[0])}, nil
	}
	selector := Random(o.Seed, o.Seed2).Batch(2, true).sure(func(in dataset.Dataset) dataset.Dataset {
		return dataset.Map(in, pick, specOf([]tf.DType{tf.Int64}, []tf.Shape{{}}), true)
	})
	return ChooseFrom(selector, o, inputs...)
}

// logits returns the inputs that can be chosen, and the logarithms of their weights.
func (o *MixOptions) logits(inputs []*Dataset) (some []*Dataset, logits []float32, err error) {
	if len(inputs) == 0 {
		return nil, nil, tf.Errorf(tf.InvalidArgument, "SampleFrom needs a dataset to sample from, got none")
	}
	if o.Weights == nil {
		for range inputs {
			logits = append(logits, 1) // as TensorFlow has it: only differences matter
		}
		return inputs, logits, nil
	}
	if len(o.Weights) != len(inputs) {
		return nil, nil, tf.Errorf(tf.InvalidArgument, "there must be a weight for each dataset, got %d weights for %d datasets", len(o.Weights), len(inputs))
	}
	for i, w := range o.Weights {
		if !(w >= 0) || math.IsInf(w, 0) {
			return nil, nil, tf.Errorf(tf.InvalidArgument, "weights must be numbers from 0 on, weight %d is %v", i, w)
		}
		if w > 0 {
			some, logits = append(some, inputs[i]), append(logits, float32(math.Log(float64(float32(w)))))
		}
	}
	if len(some) == 0 {
		return []*Dataset{inputs[0].Take(0)}, nil, nil
	}
	return some, logits, nil
}

var errNilDataset = tf.Errorf(tf.InvalidArgument, "an input must be a dataset, got nil")

// inner returns what datasets hold, or the first error of one.
func inner(inputs []*Dataset) ([]dataset.Dataset, error) {
	all := make([]dataset.Dataset, len(inputs))
	for i, d := range inputs {
		switch {
		case d == nil:
			return nil, errNilDataset
		case d.Err() != nil:
			return nil, d.Err()
		}
		all[i] = d.d
	}
	return all, nil
}
