package dataset

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/gorge-tf/gorge/tf/core"
)

// Matching returns the names of files that match one of the patterns, in order.
// What there is, is looked for when an iterator begins.
func Matching(patterns []string) Dataset {
	return &matching{common{&Spec{[]core.DType{core.String}, []core.Shape{{}}}}, patterns}
}

type matching struct {
	common
	patterns []string
}

func (d *matching) Cardinality() int64 { return Unknown }

func (d *matching) Iterate() (Iterator, error) {
	var names []string
	for _, p := range d.patterns {
		found, err := filepath.Glob(core.LocalPath(p))
		if err != nil {
			return nil, core.Errorf(core.InvalidArgument, "%q is no pattern of file names: %v", p, err)
		}
		names = append(names, found...)
	}
	if len(names) == 0 {
		return nil, core.Errorf(core.NotFound, "Don't find any matched files: no name matches %s", strings.Join(d.patterns, ", "))
	}
	slices.Sort(names)
	names = slices.Compact(names)
	list := Indexed(d.spec, int64(len(names)), func(i int64) (Element, error) { return Element{core.Scalar(names[i])}, nil })
	return list.Iterate()
}
