package ops

import (
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

// VariableAt returns the cell of the variable in input i, which is a reference
// or a handle, for kernels. A missing one is refused with FAILED_PRECONDITION, a
// handle that is not a scalar, not of a variable, or of another device with
// INVALID_ARGUMENT.
func VariableAt(c *core.OpContext, i int) (*core.Ref, error) {
	if c == nil || i < 0 || i >= len(c.In) {
		return nil, tf.Errorf(tf.Internal, "a kernel must have the input of the variable that it asks for, number %d", i)
	}
	if ref := c.In[i].Ref; ref != nil {
		return ref, nil
	}
	if c.In[i].T == nil {
		return nil, tf.Errorf(tf.Internal, "Invalid variable reference.")
	}
	v, err := lookupVariable(c, i)
	if err != nil {
		return nil, err
	}
	return &v.Ref, nil
}
