package training

import (
	"cmp"
	"slices"
	"unsafe"

	"github.com/gorge-tf/gorge/internal/rows"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/ops"
)

func optimizerKernel(vars, in []string, run step) core.NewKernel {
	return func(n *core.Node) (core.Kernel, error) {
		ref := len(n.OutTypes) > 0
		k := &core.UpdateKernel{Gradient: len(vars) + slices.IndexFunc(in, isGradient)}
		k.Compute = func(c *core.OpContext) error {
			err := update(c, vars, in, c.Input(k.Gradient), func(s *stepInputs) { run(n, s) })
			if err == nil && ref {
				c.Out[0].Ref = c.In[0].Ref
			}
			return err
		}
		if !ref && !slices.Contains(in, "indices") && n.Type("T") == tf.Float32 {
			k.Parts = func(c *core.OpContext, shape tf.Shape, compute func(worker func() core.UpdatePart)) error {
				described := core.TensorOf(tf.Float32, shape, nil)
				return update(c, vars, in, described, func(s *stepInputs) {
					s.parts = compute
					run(n, s)
				})
			}
		}
		return k, nil
	}
}

// update calls run with the inputs, once they have been checked, while the variables are
// locked.
func update(c *core.OpContext, vars, in []string, grad *core.Tensor, run func(*stepInputs)) error {
	refs, err := variableRefs(c, len(vars))
	if err != nil {
		return err
	}
	return changeAll(c, refs, func(next []*core.Change) error {
		inputs, err := optimizerInputs(c, vars, in, grad, next)
		if inputs != nil {
			defer inputs.release()
		}
		if err == nil {
			run(inputs)
		}
		return err
	})
}

// variableRefs returns the cells of the variables in the first n inputs, which
// are references or handles.
func variableRefs(c *core.OpContext, n int) ([]*core.Ref, error) {
	refs := make([]*core.Ref, n)
	for i := range refs {
		r, err := ops.VariableAt(c, i)
		if err != nil {
			return nil, err
		}
		refs[i] = r
	}
	return refs, nil
}

// changeAll calls f for it to change the values of all refs, holding all their locks.
// They are taken in the order of their addresses, so that two steps that update the
// same variables cannot wait for each other. f gets one Change for a variable that is
// in refs twice.
func changeAll(c *core.OpContext, refs []*core.Ref, f func([]*core.Change) error) error {
	values := make([]*core.Change, len(refs))
	order := slices.Clone(refs)
	slices.SortFunc(order, func(a, b *core.Ref) int {
		return cmp.Compare(uintptr(unsafe.Pointer(a)), uintptr(unsafe.Pointer(b)))
	})
	order = slices.Compact(order)
	var lock func(k int) error
	lock = func(k int) error {
		if k == len(order) {
			return f(values)
		}
		return order[k].Change(c, func(v *core.Change) error {
			for i, r := range refs {
				if r == order[k] {
					values[i] = v
				}
			}
			return lock(k + 1)
		})
	}
	return lock(0)
}

// optimizerInputs checks the variables' values, the gradient and the other inputs.
func optimizerInputs(c *core.OpContext, vars, in []string, grad *core.Tensor, next []*core.Change) (*stepInputs, error) {
	ts := make([]*core.Tensor, len(next))
	for i, v := range next {
		ts[i] = v.T
	}
	s := &stepInputs{c: c, vars: ts, next: next}
	if err := checkVariables(vars, ts, c.Node.Type("T")); err != nil {
		return nil, err
	}
	for i, name := range in {
		t := c.Input(len(vars) + i)
		switch {
		case isGradient(name):
			s.grad = grad
		case name == "indices":
			s.indices = t
		case t.Rank() != 0:
			return nil, tf.Errorf(tf.InvalidArgument, "%s is not a scalar: %s", name, t.Shape().String())
		default:
			s.scalars = append(s.scalars, t)
		}
	}
	if s.indices != nil {
		return s, s.checkRows()
	}
	if v, g := ts[0].Shape(), s.grad.Shape(); !v.Equal(g) {
		return nil, tf.Errorf(tf.InvalidArgument, "var and %s do not have the same shape%s %s", in[slices.IndexFunc(in, isGradient)], v.String(), g.String())
	}
	return s, nil
}

func checkVariables(names []string, ts []*core.Tensor, d tf.DType) error {
	for i, t := range ts {
		switch {
		case t == nil:
			return tf.Errorf(tf.FailedPrecondition, "Attempting to use uninitialized variables: input %s has no value", names[i])
		case t.DType() != d.Base():
			return tf.Errorf(tf.InvalidArgument, "Trying to update a variable of type %s as %s", t.DType().CName(), d.CName())
		case !t.Shape().Equal(ts[0].Shape()):
			return tf.Errorf(tf.InvalidArgument, "var and %s do not have the same shape%s %s", slotName(names[i]), ts[0].Shape().String(), t.Shape().String())
		}
	}
	return nil
}

// slotName is what TensorFlow's messages call a variable.
func slotName(arg string) string {
	if arg == "gradient_accumulator" {
		return "accum"
	}
	return arg
}

// checkRows checks that the gradient has a row of the variables for each index.
func (in *stepInputs) checkRows() error {
	v, g, n := in.vars[0].Shape(), in.grad.Shape(), in.indices.Len()
	switch {
	case len(v) == 0:
		return tf.Errorf(tf.InvalidArgument, "var must be at least 1 dimensional")
	case in.indices.Rank() != 1:
		return tf.Errorf(tf.InvalidArgument, "indices must be one-dimensional")
	case len(g) != len(v):
		return tf.Errorf(tf.InvalidArgument, "var and grad must have the same rank, got shapes %s and %s", v.String(), g.String())
	}
	for k := 1; k < len(v); k++ {
		if v[k] != g[k] {
			return tf.Errorf(tf.InvalidArgument, "var and grad must match in dimension %d", k)
		}
	}
	if g[0] != n {
		return tf.Errorf(tf.InvalidArgument, "grad must be the same size as indices in the first dimension.")
	}
	if err := in.takeRows(); err != nil {
		return err
	}
	for i, row := range in.rows {
		if row < 0 || row >= int64(v[0]) {
			return tf.Errorf(tf.InvalidArgument, "Index %d at offset %d in indices is out of range", row, i)
		}
	}
	return nil
}

// takeRows takes memory for the rows and their order, until release.
func (in *stepInputs) takeRows() error {
	v, temp, err := rows.IndicesIn(in.c, in.indices)
	if err != nil {
		return err
	}
	if temp != nil {
		in.temps = append(in.temps, temp)
	}
	order, err := in.c.Temp(core.Int64, in.indices.Shape())
	if err != nil {
		return err
	}
	in.rows, in.order, in.temps = v, core.Data[int64](order), append(in.temps, order)
	return nil
}

func (in *stepInputs) release() {
	for _, t := range in.temps {
		t.Release()
	}
}
