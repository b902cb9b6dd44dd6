package checkpoint

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/gorge-tf/gorge/internal/bundle"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

func init() {
	core.Register(core.OpDef{
		Name: "RestoreV2", In: "prefix: string; tensor_names: string; shape_and_slices: string", Out: "tensors: dtypes", Attrs: "dtypes: list(type) >= 1",
		Stateful: true, Expensive: true, Shape: restoreShape, NoGrad: core.NotDifferentiable, Kernels: core.AnyType(restoreV2),
	})
	const attrs = "dt: type; preferred_shard: int = -1"
	core.Register(core.OpDef{
		Name: "Restore", In: "file_pattern: string; tensor_name: string", Out: "tensor: dt", Attrs: attrs,
		Stateful: true, Expensive: true, Shape: restoreOneShape, NoGrad: core.NotDifferentiable, Kernels: core.AnyType(restoreSlice),
	})
	core.Register(core.OpDef{
		Name: "RestoreSlice", In: "file_pattern: string; tensor_name: string; shape_and_slice: string", Out: "tensor: dt", Attrs: attrs,
		Stateful: true, Expensive: true, Shape: restoreOneShape, NoGrad: core.NotDifferentiable, Kernels: core.AnyType(restoreSlice),
	})
}

// RestoreV2 returns tensors of the given types from a checkpoint that SaveV2
// or the older ops have written. The inputs are those of [SaveV2]; a slice
// need not be one that was saved. Shapes of the results are known when the
// graph is built only where slices are constant and not empty. A name that the
// checkpoint does not have is refused with NOT_FOUND in the step, a type or
// shape that it does not have with INVALID_ARGUMENT, and a damaged file with
// DATA_LOSS. Names and slices that are no vectors of one length are refused
// with INVALID_ARGUMENT, when the graph is built if the shapes are known, else
// in the step.
func RestoreV2(prefix, names, slices tf.Output, types []tf.DType, opts ...tf.Option) []tf.Output {
	o := tf.Apply(nil, "RestoreV2", []tf.Output{prefix, names, slices}, tf.Join(opts, tf.Attr("dtypes", types))...)
	out := make([]tf.Output, len(types))
	for i := range out {
		out[i] = o.Output(i)
	}
	return out
}

// Restore returns a tensor of type d from the files of the older format whose
// names match a pattern. Pattern and name are scalars; other shapes are
// refused with INVALID_ARGUMENT, when the graph is built if they are known,
// else in the step. Files that there are not, or that do not have the name,
// are refused with NOT_FOUND in the step, another type with INVALID_ARGUMENT.
func Restore(pattern, name tf.Output, d tf.DType, opts ...tf.Option) tf.Output {
	return tf.Apply(nil, "Restore", []tf.Output{pattern, name}, tf.Join(opts, tf.Attr("dt", d))...).Output(0)
}

// RestoreSlice returns a slice of a tensor of type d from the files of the
// older format whose names match a pattern. See [SaveV2] for how slices are
// written. All inputs are scalars; an empty slice stands for the whole. Errors
// are those of Restore, and INVALID_ARGUMENT in the step for a slice of
// another shape than the file's.
func RestoreSlice(pattern, name, slice tf.Output, d tf.DType, opts ...tf.Option) tf.Output {
	return tf.Apply(nil, "RestoreSlice", []tf.Output{pattern, name, slice}, tf.Join(opts, tf.Attr("dt", d))...).Output(0)
}

func restoreShape(c *core.Infer) error {
	if _, err := c.Rank(0, 0); err != nil {
		return err
	}
	names, err := c.Rank(1, 1)
	if err != nil {
		return err
	}
	slices, err := c.Rank(2, 1)
	if err != nil {
		return err
	}
	if !names.Compatible(slices) {
		return tf.Errorf(tf.InvalidArgument, "Dimensions must be equal, but are %d and %d", names[0], slices[0])
	}
	specs := c.Const(2)
	if specs == nil {
		return nil
	}
	if specs.Len() != c.NumOut() {
		return tf.Errorf(tf.InvalidArgument, "The number of shape_and_slice doesn't match tensor outputs.")
	}
	for i, spec := range core.Data[string](specs) {
		if err := setSliceShape(c, i, spec); err != nil {
			return err
		}
	}
	return nil
}

// setSliceShape sets the shape of output i to that of a slice.
func setSliceShape(c *core.Infer, i int, spec string) error {
	if spec == "" {
		return nil
	}
	_, _, shape, err := bundle.ParseSlice(spec)
	if err != nil {
		return err
	}
	c.Set(i, shape)
	return nil
}

func restoreOneShape(c *core.Infer) error {
	for i := range c.NumIn() {
		if _, err := c.Rank(i, 0); err != nil {
			return err
		}
	}
	if c.NumIn() < 3 || c.Const(2) == nil {
		return nil
	}
	return setSliceShape(c, 0, core.Data[string](c.Const(2))[0])
}

// A wanted is a tensor, or a slice of it, that is to be restored.
type wanted struct {
	name, spec string
	dtype      tf.DType
}

func restoreV2(n *core.Node) (core.Kernel, error) {
	types := n.TypesAttr("dtypes")
	return core.Compute(func(c *core.OpContext) error {
		if have := c.Input(1).Len(); have != len(types) {
			return tf.Errorf(tf.InvalidArgument, "Got %d tensor names, but %d expected dtypes.", have, len(types))
		}
		if err := checkNames(c); err != nil {
			return err
		}
		all := make([]wanted, len(types))
		for i := range all {
			all[i] = wanted{core.Data[string](c.Input(1))[i], core.Data[string](c.Input(2))[i], types[i]}
		}
		prefix := core.Data[string](c.Input(0))[0]
		if !hasIndex(core.LocalPath(prefix)) {
			return restoreOlder(c, prefix, all)
		}
		return restoreBundle(c, prefix, all)
	}), nil
}

// hasIndex reports whether there is a bundle of a prefix: one of this name, which
// may have brackets, or one that it matches as a pattern.
func hasIndex(prefix string) bool {
	if _, err := os.Stat(prefix + ".index"); err == nil {
		return true
	}
	found, err := filepath.Glob(prefix + ".index")
	return err == nil && len(found) > 0
}

// restoreBundle sets the outputs to tensors of a bundle. Those are read by
// several threads, and compared with their twins after all of those are there.
func restoreBundle(c *core.OpContext, prefix string, all []wanted) error {
	r, err := bundle.Open(prefix)
	if err != nil {
		return err
	}
	defer r.Close()
	if err := checkTypes(r, all); err != nil {
		return err
	}
	twin, err := twins(r, all)
	if err != nil {
		return err
	}
	var own, shared []int
	for i, j := range twin {
		if j < 0 {
			own = append(own, i)
		} else {
			shared = append(shared, i)
		}
	}
	if err := each(c, own, func(i int) error { return all[i].restore(c, i, r) }); err != nil {
		return err
	}
	return each(c, shared, func(i int) error { return all[i].restoreTwin(c, i, twin[i], r) })
}

// each calls f for all indices, by several threads, and returns the first error in their
// order.
func each(c *core.OpContext, indices []int, f func(i int) error) error {
	errs := make([]error, len(indices))
	c.ParallelFor(len(indices), 1, func(lo, hi int) {
		for k := lo; k < hi; k++ {
			errs[k] = f(indices[k])
		}
	})
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// restore sets output i to what is read.
func (w wanted) restore(c *core.OpContext, i int, r *bundle.Reader) error {
	t, err := w.from(c, i, r)
	if err == nil {
		c.Set(i, t)
	}
	return err
}

// checkTypes checks the types of all tensors, so that one error names all that
// are wrong.
func checkTypes(r *bundle.Reader, all []wanted) error {
	var wrong []string
	for _, w := range all {
		e, err := r.Entry(w.name)
		if err != nil {
			return err
		}
		if e.DType != w.dtype {
			wrong = append(wrong, "tensor_name = "+w.name+"; expected dtype "+w.dtype.CName()+" does not equal original dtype "+e.DType.CName())
		}
	}
	if len(wrong) > 0 {
		return tf.Errorf(tf.InvalidArgument, "%s", strings.Join(wrong, "\n"))
	}
	return nil
}

// from reads what is to be output i, into memory of the session's pool where the whole
// of a tensor is wanted.
func (w wanted) from(c *core.OpContext, i int, r *bundle.Reader) (*core.Tensor, error) {
	if w.spec == "" {
		return r.LookupIn(w.name, func(d core.DType, s core.Shape) (*core.Tensor, error) { return c.Alloc(i, d, s) })
	}
	full, s, _, err := bundle.ParseSlice(w.spec)
	if err != nil {
		return nil, err
	}
	e, err := r.Entry(w.name)
	if err != nil {
		return nil, err
	}
	if !e.Shape.Equal(full) {
		return nil, tf.Errorf(tf.InvalidArgument, "tensor_name = %s; shape in shape_and_slice spec %s does not match the shape stored in checkpoint: %s", w.name, full.String(), e.Shape.String())
	}
	return r.LookupSlice(w.name, s)
}

func restoreSlice(n *core.Node) (core.Kernel, error) {
	d := n.Type("dt")
	return core.Compute(func(c *core.OpContext) error {
		for i, what := range []string{"Input 0 (file_pattern) must be a string scalar; got a tensor of %delements", "Input 1 (tensor_name) must be a string scalar; got a tensor of %delements", "Expected 1 element for the tensor shape and slice but got %d"} {
			if i < c.Inputs() && c.Input(i).Len() != 1 {
				return tf.Errorf(tf.InvalidArgument, what, c.Input(i).Len())
			}
		}
		w := wanted{name: core.Data[string](c.Input(1))[0], dtype: d}
		if c.Inputs() > 2 {
			w.spec = core.Data[string](c.Input(2))[0]
		}
		return restoreOlder(c, core.Data[string](c.Input(0))[0], []wanted{w})
	}), nil
}

// restoreOlder sets the outputs to tensors of slice files.
func restoreOlder(c *core.OpContext, pattern string, all []wanted) error {
	r, err := bundle.OpenSlices(pattern)
	if err != nil {
		return err
	}
	defer r.Close()
	for i, w := range all {
		t, err := w.fromSlices(r, pattern)
		if err != nil {
			return err
		}
		c.Set(i, t)
	}
	return nil
}

func (w wanted) fromSlices(r *bundle.SliceReader, pattern string) (*core.Tensor, error) {
	e := r.Entry(w.name)
	if e == nil {
		return nil, tf.Errorf(tf.NotFound, "Tensor name \"%s\" not found in checkpoint files %s", w.name, pattern)
	}
	if e.DType != w.dtype {
		return nil, tf.Errorf(tf.InvalidArgument, "Expected to restore a tensor of type %s, got a tensor of type %s instead: tensor_name = %s", w.dtype.CName(), e.DType.CName(), w.name)
	}
	s := bundle.Whole(len(e.Shape))
	if w.spec != "" {
		full, part, _, err := bundle.ParseSlice(w.spec)
		if err != nil {
			return nil, err
		}
		if !full.Equal(e.Shape) {
			return nil, tf.Errorf(tf.InvalidArgument, "Shape in shape_and_slice spec does not match the shape in the save file: %s, save file shape: %s", full.String(), e.Shape.String())
		}
		s = part
	}
	return r.LookupSlice(w.name, s)
}
