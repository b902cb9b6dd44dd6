package train

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gorge-tf/gorge/tf"
)

// maxMismatches bounds the variables that an error lists.
const maxMismatches = 10

// misfit adds to the error of a restore which variables do not fit the checkpoint:
// the operation that fails is one of the Saver's, which no program knows. It leaves the
// error as it is if this process cannot read the files, as on a cluster, or if all fit.
func misfit(err error, path string, items []item) error {
	return naming(err, path, items, "Variables that do not fit: ", "; ", item.mismatch)
}

// lacking is misfit for variables that the checkpoint does not have: the operation fails at the first.
func lacking(err error, path string, items []item) error {
	return naming(err, path, items, "Variables that are not in the checkpoint: ", ", ", item.lacked)
}

// naming adds to err what is wrong with items, after title.
func naming(err error, path string, items []item, title, between string, wrong func(item, *CheckpointReader) string) error {
	r, openErr := OpenCheckpoint(path)
	if openErr != nil {
		return err
	}
	defer r.Close()
	var lines []string
	for _, it := range items {
		if line := wrong(it, r); line != "" && !slices.Contains(lines, line) {
			lines = append(lines, line)
		}
	}
	if more := len(lines) - maxMismatches; more > 0 {
		lines = append(lines[:maxMismatches], fmt.Sprintf("and %d more", more))
	}
	if len(lines) == 0 {
		return err
	}
	e := *tf.AsError(err)
	e.Msg = e.Message() + "\n\n" + title + strings.Join(lines, between)
	return &e
}

// lacked is the first name of an item that the checkpoint does not have, "" if it has all.
func (it item) lacked(r *CheckpointReader) string {
	for _, s := range it.specs() {
		if !r.Has(s.Name) {
			return s.Name
		}
	}
	return ""
}

// mismatch says how a variable, or the variable that it is a part of, differs from what
// the checkpoint has under its name; "" if it does not.
func (it item) mismatch(r *CheckpointReader) string {
	key, ok := r.Key(it.name)
	if it.v == nil || !ok {
		return ""
	}
	info, shape := r.infos[key], it.v.Shape()
	if part := it.v.Slice(); part != nil {
		shape = part.FullShape
	}
	if info.DType == it.v.DType() && shape.Compatible(info.Shape) {
		return ""
	}
	return fmt.Sprintf("%s is %v%v in the graph, %v%v in the checkpoint", it.name, it.v.DType(), shape, info.DType, info.Shape)
}
