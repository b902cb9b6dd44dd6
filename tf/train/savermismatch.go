package train

import (
	"fmt"
	"strings"

	"github.com/gorge-tf/gorge/tf"
)

// maxMismatches bounds the variables that an error lists.
const maxMismatches = 10

// naming adds to the error of a restore which variables do not fit the checkpoint:
// the operation that fails is one of the Saver's, which no program knows. It leaves the
// error as it is if this process cannot read the files, as on a cluster, or if all fit.
func (s *Saver) naming(err error, path string) error { return s.misfit(err, path, s.items) }

func (s *Saver) misfit(err error, path string, items []item) error {
	r, openErr := OpenCheckpoint(path)
	if openErr != nil {
		return err
	}
	defer r.Close()
	var lines []string
	for _, it := range items {
		if line := it.mismatch(r); line != "" {
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
	e.Msg = e.Message() + "\n\nVariables that do not fit: " + strings.Join(lines, "; ")
	return &e
}

// mismatch says how a variable, or the variable that it is a part of, differs from what
// the checkpoint has under its name; "" if it does not.
func (it item) mismatch(r *CheckpointReader) string {
	if it.v == nil || !r.Has(it.name) {
		return ""
	}
	info, shape := r.infos[it.name], it.v.Shape()
	if part := it.v.Slice(); part != nil {
		shape = part.FullShape
	}
	if info.DType == it.v.DType() && shape.Compatible(info.Shape) {
		return ""
	}
	return fmt.Sprintf("%s is %v%v in the graph, %v%v in the checkpoint", it.name, it.v.DType(), shape, info.DType, info.Shape)
}
