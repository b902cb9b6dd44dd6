package data

import (
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

// anonymousName is the shared name that TensorFlow has for variables that only their
// handles name.
const anonymousName = core.AnonymousName

// variable adds what makes a variable with the value that another one has.
func (w *graphWriter) variable(handle *core.Tensor) (string, error) {
	value, err := valueOf(w.step, handle)
	if err != nil {
		return "", err
	}
	v, err := w.add("VarHandleOp", core.Attrs{"dtype": value.DType(), "shape": value.Shape(), "shared_name": anonymousName}, nil)
	if err != nil {
		return "", err
	}
	first, err := w.add("Const", core.Attrs{"dtype": value.DType(), "value": value}, nil)
	if err != nil {
		return "", err
	}
	assigned, err := w.add("AssignVariableOp", core.Attrs{"dtype": value.DType()}, []string{v, first})
	if err != nil {
		return "", err
	}
	return w.add("Identity", core.Attrs{"T": tf.Resource}, []string{v, "^" + assigned})
}

func valueOf(s *core.Step, handle *core.Tensor) (*core.Tensor, error) {
	n, err := core.NewNode("value", "ReadVariableOp", core.Attrs{"dtype": handle.Handles()[0].DType})
	if err != nil {
		return nil, err
	}
	out, err := compute(s, n, []*core.Tensor{handle})
	if err != nil {
		return nil, err
	}
	return out[0], nil
}
