package checkpoint

import (
	"github.com/gorge-tf/gorge/internal/bundle"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

func init() {
	core.Register(core.OpDef{
		Name: "SaveV2", In: "prefix: string; tensor_names: string; shape_and_slices: string; tensors: dtypes", Attrs: "dtypes: list(type) >= 1",
		Stateful: true, Expensive: true, Shape: saveShape(3), NoGrad: core.NotDifferentiable, Kernels: core.AnyType(saveV2),
	})
	core.Register(core.OpDef{
		Name: "Save", In: "filename: string; tensor_names: string; data: T", Attrs: "T: list(type) >= 1",
		Stateful: true, Expensive: true, Shape: saveShape(2), NoGrad: core.NotDifferentiable, Kernels: core.AnyType(saveSlices(2)),
	})
	core.Register(core.OpDef{
		Name: "SaveSlices", In: "filename: string; tensor_names: string; shapes_and_slices: string; data: T", Attrs: "T: list(type) >= 1",
		Stateful: true, Expensive: true, Shape: saveShape(3), NoGrad: core.NotDifferentiable, Kernels: core.AnyType(saveSlices(3)),
	})
	core.Register(core.OpDef{
		Name: "MergeV2Checkpoints", In: "checkpoint_prefixes: string; destination_prefix: string",
		Attrs:    "delete_old_dirs: bool = true; allow_missing_files: bool = false",
		Stateful: true, Shape: mergeShape, NoGrad: core.NotDifferentiable, Kernels: core.AnyType(merge),
	})
}

// SaveV2 saves tensors, under their names, in the files of a checkpoint whose
// names begin with prefix, a scalar. Both names and slices are vectors with an
// element for each tensor. Where that of slices is not empty, it says of which
// slice of which shape the tensor has the values: "4 5 0,2:-" is rows 0 and 1
// of a 4×5 matrix. The directory of the files is made if need be; files of the
// same name are replaced once the new ones are complete. A type that cannot be
// saved is refused with UNIMPLEMENTED in the step. A prefix, names or slices
// of other shapes are refused with INVALID_ARGUMENT, when the graph is built
// if they are known, else in the step; a slice that has not the shape of its
// tensor is refused with it in the step.
func SaveV2(prefix, names, slices tf.Output, tensors []tf.Output, opts ...tf.Option) *tf.Operation {
	return tf.Apply(nil, "SaveV2", append([]tf.Output{prefix, names, slices}, tensors...), opts...)
}

// Save saves tensors in one file of the older format. See [SaveV2]. The
// filename is a scalar and names a vector with an element for each tensor;
// other shapes are refused with INVALID_ARGUMENT, when the graph is built if
// they are known, else in the step.
func Save(filename, names tf.Output, tensors []tf.Output, opts ...tf.Option) *tf.Operation {
	return tf.Apply(nil, "Save", append([]tf.Output{filename, names}, tensors...), opts...)
}

// SaveSlices saves tensors, or slices of some, in one file of the older
// format. See [SaveV2]. Shapes that do not agree are refused with
// INVALID_ARGUMENT, when the graph is built if they are known, else in the
// step; a slice that has not the shape of its tensor is refused with it in the
// step.
func SaveSlices(filename, names, slices tf.Output, tensors []tf.Output, opts ...tf.Option) *tf.Operation {
	return tf.Apply(nil, "SaveSlices", append([]tf.Output{filename, names, slices}, tensors...), opts...)
}

// MergeOpts are the optional attributes of MergeV2Checkpoints.
type MergeOpts struct {
	KeepOldDirs       bool // directories of the parts stay, though they are empty
	AllowMissingFiles bool // some of the parts may not be there
}

// Apply sets the attributes.
func (o MergeOpts) Apply(s *tf.Spec) {
	s.Set("delete_old_dirs", !o.KeepOldDirs)
	s.Set("allow_missing_files", o.AllowMissingFiles)
}

// MergeV2Checkpoints makes the checkpoints that several SaveV2 have written
// under the prefixes, a vector, one under the prefix dest, a scalar. The parts
// are gone then. Slices of one tensor may be in several parts. Prefixes that
// are no vector and a dest that is no scalar are refused with
// INVALID_ARGUMENT, when the graph is built if the shapes are known, else in
// the step. So are, in the step, a part that is not there unless
// AllowMissingFiles is set, a tensor that two parts have as a whole, and
// slices of different types or shapes. Its options are [MergeOpts].
func MergeV2Checkpoints(prefixes, dest tf.Output, opts ...tf.Option) *tf.Operation {
	return tf.Apply(nil, "MergeV2Checkpoints", []tf.Output{prefixes, dest}, opts...)
}

// saveShape returns the shape function of ops whose tensors come after fixed
// inputs: a name, and vectors of as many elements as there are tensors.
func saveShape(fixed int) func(*core.Infer) error {
	return func(c *core.Infer) error {
		if _, err := c.Rank(0, 0); err != nil {
			return err
		}
		for i := 1; i < fixed; i++ {
			s, err := c.Rank(i, 1)
			if err != nil {
				return err
			}
			if n := c.NumIn() - fixed; s != nil && s[0] >= 0 && s[0] != n {
				return tf.Errorf(tf.InvalidArgument, "Dimension must be %d but is %d", n, s[0])
			}
		}
		return nil
	}
}

func mergeShape(c *core.Infer) error {
	if _, err := c.Rank(0, 1); err != nil {
		return err
	}
	_, err := c.Rank(1, 0)
	return err
}

// A part is a tensor to be saved, as a slice of a tensor of shape full.
type part struct {
	name  string
	full  tf.Shape
	slice bundle.Slice
	value *core.Tensor
}

// parts reads the names and, if there are any, the slices that come before the
// tensors in a node's inputs.
func parts(c *core.OpContext, fixed int) ([]part, error) {
	names := core.Data[string](c.Input(1))
	out := make([]part, len(names))
	for i, name := range names {
		t := c.Input(fixed + i)
		out[i] = part{name, t.Shape(), bundle.Whole(t.Rank()), t}
		if fixed < 3 || core.Data[string](c.Input(2))[i] == "" {
			continue
		}
		spec := core.Data[string](c.Input(2))[i]
		full, s, shape, err := bundle.ParseSlice(spec)
		if err != nil {
			return nil, err
		}
		if !shape.Equal(t.Shape()) {
			return nil, tf.Errorf(tf.InvalidArgument, "Slice in shape_and_slice specification does not match the shape of the tensor to  save: %s, tensor: %s", spec, t.Shape().String())
		}
		out[i].full, out[i].slice = full, s
	}
	return out, nil
}

func saveV2(*core.Node) (core.Kernel, error) {
	return core.Compute(func(c *core.OpContext) error {
		if err := checkNames(c); err != nil {
			return err
		}
		if have, want := c.Inputs()-3, c.Input(1).Len(); have != want {
			return tf.Errorf(tf.InvalidArgument, "Got %d tensor names but %d tensors.", want, have)
		}
		all, err := parts(c, 3)
		if err != nil {
			return err
		}
		return saveBundle(core.Data[string](c.Input(0))[0], all)
	}), nil
}

func saveBundle(prefix string, all []part) error {
	w, err := bundle.Create(prefix)
	if err != nil {
		return err
	}
	defer w.Abort()
	for _, p := range all {
		if err := w.AddSlice(p.name, p.full, p.slice, p.value); err != nil {
			return err
		}
	}
	return w.Finish()
}

// checkNames checks the inputs that SaveV2 and RestoreV2 have in common.
func checkNames(c *core.OpContext) error {
	prefix, names, slices := c.Input(0), c.Input(1), c.Input(2)
	switch {
	case prefix.Len() != 1:
		return tf.Errorf(tf.InvalidArgument, "Input prefix should have a single element, got %d instead.", prefix.Len())
	case names.Rank() != 1 || slices.Rank() != 1:
		return tf.Errorf(tf.InvalidArgument, "Input tensor_names and shape_and_slices should be an 1-D tensors, got %s and %s instead.", names.Shape().String(), slices.Shape().String())
	case names.Len() != slices.Len():
		return tf.Errorf(tf.InvalidArgument, "tensor_names and shape_and_slices have different number of elements: %d vs. %d", names.Len(), slices.Len())
	}
	return nil
}

// saveSlices returns the factory of kernels that write the older format.
func saveSlices(fixed int) core.NewKernel {
	return func(*core.Node) (core.Kernel, error) {
		return core.Compute(func(c *core.OpContext) error {
			if err := checkSliceNames(c, fixed); err != nil {
				return err
			}
			all, err := parts(c, fixed)
			if err != nil {
				return err
			}
			w := bundle.CreateSlices(core.Data[string](c.Input(0))[0])
			for _, p := range all {
				if err := w.Add(p.name, p.full, p.slice, p.value); err != nil {
					return err
				}
			}
			return w.Finish()
		}), nil
	}
}

func checkSliceNames(c *core.OpContext, fixed int) error {
	n := c.Input(1).Len()
	switch {
	case c.Input(0).Len() != 1:
		return tf.Errorf(tf.InvalidArgument, "Input 0 (filename) must be a string scalar; got a tensor of %delements", c.Input(0).Len())
	case fixed == 3 && c.Input(2).Len() != n:
		return tf.Errorf(tf.InvalidArgument, "Expected %d elements for the tensor shapes and slices but got %d", n, c.Input(2).Len())
	case c.Inputs() != n+fixed:
		return tf.Errorf(tf.InvalidArgument, "Expected totally %d inputs as input #1 (which is a string tensor of saved names) contains %d names, but received %d inputs", n+fixed, n, c.Inputs())
	}
	return nil
}
