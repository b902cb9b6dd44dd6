package feature

import (
	"slices"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/ops/parsing"
	"github.com/gorge-tf/gorge/tf/ops/sparse"
)

// A ParseSpec says how the features of columns are read from tf.Example records.
type ParseSpec struct {
	Dense  []DenseFeature  // by key
	Sparse []SparseFeature // by key
}

// A DenseFeature has the same number of float32 in each record.
type DenseFeature struct {
	Key     string
	Shape   tf.Shape
	Default []float32 // one number for all, or all; nil: it must not be missing
}

// A SparseFeature has any number of values in a record.
type SparseFeature struct {
	Key  string
	Type tf.DType
}

// specs collects the features of columns.
type specs struct {
	ParseSpec
	err error
}

func (s *specs) dense(key string, shape tf.Shape, def []float32) {
	for _, f := range s.Sparse {
		s.conflict(f.Key == key, key)
	}
	for _, f := range s.ParseSpec.Dense {
		if f.Key == key {
			s.conflict(!f.Shape.Equal(shape) || !slices.Equal(f.Default, def), key)
			return
		}
	}
	s.ParseSpec.Dense = append(s.ParseSpec.Dense, DenseFeature{key, shape, def})
}

func (s *specs) sparse(key string, d tf.DType) {
	if d.IsInteger() {
		d = tf.Int64 // all that records have
	}
	for _, f := range s.ParseSpec.Dense {
		s.conflict(f.Key == key, key)
	}
	for _, f := range s.Sparse {
		if f.Key == key {
			s.conflict(f.Type != d, key)
			return
		}
	}
	s.Sparse = append(s.Sparse, SparseFeature{key, d})
}

func (s *specs) conflict(is bool, key string) {
	if is && s.err == nil {
		s.err = tf.Errorf(tf.InvalidArgument, "feature_columns contain different parse_spec for key %s.", key)
	}
}

// MakeParseSpec returns how the features of columns are read from records. Two
// columns must not want a feature in different forms.
func MakeParseSpec(columns ...Column) (*ParseSpec, error) {
	s := &specs{}
	for _, c := range columns {
		if none(c) {
			return nil, tf.Errorf(tf.InvalidArgument, "a column must not be nil")
		}
		if err := c.check(); err != nil {
			return nil, err
		}
		c.spec(s)
	}
	slices.SortFunc(s.ParseSpec.Dense, func(a, b DenseFeature) int { return cmpKeys(a.Key, b.Key) })
	slices.SortFunc(s.Sparse, func(a, b SparseFeature) int { return cmpKeys(a.Key, b.Key) })
	return &s.ParseSpec, s.err
}

func cmpKeys(a, b string) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

// Parse adds the operation that reads features from serialized tf.Example messages,
// string [batch].
func (s *ParseSpec) Parse(serialized tf.Output) Features {
	g, f := serialized.Graph(), Features{}
	if serialized.Err() != nil {
		return Features{"": serialized}
	}
	var dense []parsing.Dense
	for _, d := range s.Dense {
		dense = append(dense, parsing.Dense{Key: d.Key, Shape: d.Shape, Default: d.value(g)})
	}
	var some []parsing.Sparse
	for _, x := range s.Sparse {
		some = append(some, parsing.Sparse{Key: x.Key, Type: x.Type})
	}
	p := parsing.ParseExampleV2(serialized, ops.Const(g, []string{}), dense, some, nil)
	for i, d := range s.Dense {
		f[d.Key] = p.Dense[i]
	}
	for i, x := range s.Sparse {
		r := p.Sparse[i]
		f[x.Key] = sparse.Tensor{Indices: r.Indices, Values: r.Values, DenseShape: r.Shape}
	}
	return f
}

// value returns the default as the operation wants it.
func (d *DenseFeature) value(g *tf.Graph) tf.Output {
	switch {
	case d.Default == nil:
		return ops.Const(g, []float32{})
	case len(d.Default) == 1:
		return ops.Const(g, slices.Repeat(d.Default, d.Shape.NumElements()), d.Shape...)
	}
	return ops.Const(g, slices.Clone(d.Default), d.Shape...)
}
