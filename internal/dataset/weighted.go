package dataset

import (
	"math"
	"slices"

	"github.com/gorge-tf/gorge/tf/core"
)

// WeightedFlatMap returns the first elements of each of several datasets, one
// dataset after the other: as many as possible so that the numbers are in
// proportion to the weights.
func WeightedFlatMap(inputs []Dataset, weights []float64, spec *Spec) (Dataset, error) {
	switch {
	case len(inputs) < 2:
		return nil, core.Errorf(core.InvalidArgument, "WeightedFlatMap must have at least two input datasets.")
	case len(weights) != len(inputs):
		return nil, core.Errorf(core.InvalidArgument, "`input_datasets` and `weights` of the WeightedFlatMap must have the same size. Got %d datasets and %d weights.", len(inputs), len(weights))
	}
	for i, d := range inputs {
		if err := spec.Admits(d.Spec()); err != nil {
			return nil, core.Errorf(core.InvalidArgument, "All inputs to WeightedFlatMap must have the same output types and compatible output shapes. Input %d: %s", i, core.AsError(err).Message())
		}
		if n := d.Cardinality(); n < 0 {
			kind := map[int64]string{Infinite: "INFINITE", Unknown: "UNKNOWN"}[n]
			return nil, core.Errorf(core.InvalidArgument, "Cardinalities of the inputs must be known. Input %d has %s cardinality.", i, kind)
		}
	}
	for i, w := range weights {
		if !(w > 0) {
			return nil, core.Errorf(core.InvalidArgument, "`weights` must be greater than 0.0. Input %d has a weight of %v", i, w)
		}
	}
	counts, err := shares(inputs, weights)
	if err != nil {
		return nil, err
	}
	all := Take(inputs[0], counts[0])
	for i, d := range inputs[1:] {
		if all, err = Concatenate(all, Take(d, counts[i+1])); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// shares returns how many elements of each input there are to be: the one that
// has the fewest for its weight gives all.
func shares(inputs []Dataset, weights []float64) ([]int64, error) {
	heaviest, least, scarce := slices.Max(weights), math.MaxFloat64, 0
	for i, d := range inputs {
		if n := float64(d.Cardinality()) * weights[i] / heaviest; n < least {
			least, scarce = n, i
		}
	}
	counts := make([]int64, len(inputs))
	for i, d := range inputs {
		counts[i] = int64(least * weights[i] / weights[scarce])
		if have := d.Cardinality(); counts[i] > have {
			return nil, core.Errorf(core.InvalidArgument, "Input %d needs to have at least %d elements. It only has %d elements.", i, counts[i], have)
		}
	}
	return counts, nil
}
