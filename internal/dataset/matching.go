package dataset

import (
	"path/filepath"
	"slices"

	"github.com/gorge-tf/gorge/tf"
)

// Matching returns the names of files that match one of the patterns, in order.
// What there is, is looked for when an iterator begins.
func Matching(patterns []string) Dataset {
	return &matching{common{&Spec{[]tf.DType{tf.String}, []tf.Shape{{}}}}, patterns}
}

type matching struct {
	common
	patterns []string
}

func (d *matching) Cardinality() int64 { return Unknown }

func (d *matching) Iterate() (Iterator, error) {
	var names []string
	for _, p := range d.patterns {
		found, err := filepath.Glob(tf.LocalPath(p))
		if err != nil {
			return nil, tf.Errorf(tf.InvalidArgument, "%q is no pattern of file names: %v", p, err)
		}
		names = append(names, found...)
	}
	if len(names) == 0 {
		return nil, tf.Errorf(tf.NotFound, "Don't find any matched files")
	}
	slices.Sort(names)
	names = slices.Compact(names)
	list := Indexed(d.spec, int64(len(names)), func(i int64) (Element, error) { return Element{tf.Scalar(names[i])}, nil })
	return list.Iterate()
}
