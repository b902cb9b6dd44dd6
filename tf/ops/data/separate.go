package data

import (
	"slices"

	"github.com/gorge-tf/gorge/internal/dataset"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

// separated makes a dataset anew such that each place where it has a shuffled one
// takes seeds by itself, from the first on: to optimize a dataset, TensorFlow
// writes it down as a tree, in which nothing is in two places.
func separated(t *core.Tensor) (*core.Tensor, error) {
	if !optimizes(t) {
		return t, nil
	}
	s := separator{}
	out, err := s.apply(t)
	if tf.CodeOf(err) == tf.Unimplemented { // something can be made only once
		return t, nil
	}
	return out, err
}

// optimizes reports whether TensorFlow would optimize a dataset at all.
func optimizes(t *core.Tensor) bool {
	return defaults(t) || eliminated(t) || slices.ContainsFunc(optimizations, func(o optimization) bool { return o.wanted(t) })
}

// A separator knows in which datasets there are shuffled ones.
type separator map[*dataset.Origin]bool

func (s separator) apply(t *core.Tensor) (*core.Tensor, error) {
	o := dataset.OriginOf(t)
	if o == nil || !s.shuffles(o) {
		return t, nil
	}
	in := slices.Clone(o.In)
	for i, x := range o.In {
		var err error
		if in[i], err = s.apply(x); err != nil {
			return nil, err
		}
	}
	return remade(o, in)
}

// shuffles reports whether a dataset, or one before it, has seeds of its own,
// others each time.
func (s separator) shuffles(o *dataset.Origin) bool {
	if known, ok := s[o]; ok {
		return known
	}
	s[o] = (o.Node.OpName() == "ShuffleDataset" || o.Node.OpName() == "ShuffleAndRepeatDataset") && o.Node.Bool("reshuffle_each_iteration")
	for _, x := range o.In {
		if of := dataset.OriginOf(x); of != nil && s.shuffles(of) {
			s[o] = true
		}
	}
	return s[o]
}
