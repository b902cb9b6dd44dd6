package ops

import "github.com/gorge-tf/gorge/tf/core"

// VariableAt returns the cell of the variable that the handle in input i points
// to, for kernels of other packages. A missing one is a FailedPrecondition.
func VariableAt(c *core.OpContext, i int) (*core.Ref, error) {
	v, err := lookupVariable(c, i)
	if err != nil {
		return nil, err
	}
	return &v.Ref, nil
}
