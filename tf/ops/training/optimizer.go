package training

import (
	"slices"
	"strings"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

// An optimizer declares one way of training in all its flavours: Apply... on
// reference variables and ResourceApply... on resources, and SparseApply... and
// ResourceSparseApply..., which update some rows.
type optimizer struct {
	name   string
	vars   string // the variables that are updated, "var" first
	in     string // the other inputs, in order; "grad" or "delta" is the gradient, the others are scalars
	attrs  string // beside types and use_locking
	only   bool   // TensorFlow has the flavours for resources alone
	sparse bool   // there are the sparse flavours
	steps  steps
}

// OptimizerOpts are the optional attributes that all Apply operations have.
// UseLocking is for graphs that are read by TensorFlow: here updates of a
// variable always exclude each other.
type OptimizerOpts struct{ UseLocking bool }

// Apply sets the attributes.
func (o OptimizerOpts) Apply(s *tf.Spec) { s.Set("use_locking", o.UseLocking) }

// register declares all flavours.
func (o optimizer) register() {
	o.flavours("Apply", strings.Fields(o.in), "T: numbertype; use_locking: bool = false")
	if o.sparse {
		in := strings.Fields(o.in)
		k := slices.IndexFunc(in, isGradient)
		in[k] = "grad" // TensorFlow calls it delta in the dense flavours of some
		in = slices.Insert(in, k+1, "indices")
		o.flavours("SparseApply", in, "T: numbertype; Tindices: {int32, int64}; use_locking: bool = false")
	}
}

func (o *optimizer) flavours(prefix string, in []string, attrs string) {
	if o.attrs != "" {
		attrs += "; " + o.attrs
	}
	vars := strings.Fields(o.vars)
	by := map[tf.DType]core.NewKernel{}
	for d, step := range o.steps {
		by[d] = optimizerKernel(vars, in, step)
	}
	d := core.OpDef{
		Name: "Resource" + prefix + o.name, In: optimizerSignature(vars, in, "resource"), Attrs: attrs, Stateful: true, Expensive: true,
		Shape: optimizerShape(vars, in), NoGrad: core.NoGradientDefined, Kernels: core.ByType("T", by),
	}
	core.Register(d)
	if !o.only {
		d.Name, d.In, d.Out, d.Stateful = prefix+o.name, optimizerSignature(vars, in, "Ref(T)"), "out: Ref(T)", false
		core.Register(d)
	}
}

// optimizerSignature lists the inputs, the variables as the given type.
func optimizerSignature(vars, in []string, variable string) string {
	var args []string
	for _, v := range vars {
		args = append(args, v+": "+variable)
	}
	for _, x := range in {
		switch x {
		case "indices":
			args = append(args, "indices: Tindices")
		case "global_step":
			args = append(args, "global_step: int64")
		default:
			args = append(args, x+": T")
		}
	}
	return strings.Join(args, "; ")
}

func isGradient(name string) bool { return name == "grad" || name == "delta" }

// optimizerShape checks that scalars are scalars and that the rest agrees.
func optimizerShape(vars, in []string) func(*core.Infer) error {
	sparse := slices.Contains(in, "indices")
	return func(c *core.Infer) error {
		s, err := variableShapes(c, vars)
		if err != nil {
			return err
		}
		for i, name := range in {
			k := len(vars) + i
			switch {
			case name == "indices":
				_, err = c.Rank(k, 1)
			case !isGradient(name):
				_, err = c.Rank(k, 0)
			default:
				s, err = gradientShape(s, c.In(k), sparse)
			}
			if err != nil {
				return err
			}
		}
		if c.NumOut() > 0 {
			c.Set(0, s)
		}
		return nil
	}
}

// gradientShape returns what is known of a variable's shape s once its
// gradient's is known, which has some of the rows if it is sparse.
func gradientShape(s, g tf.Shape, sparse bool) (tf.Shape, error) {
	like := g
	if sparse && len(g) > 0 {
		like = append(tf.Shape{-1}, g[1:]...)
	}
	merged, ok := s.Merge(like)
	if !ok {
		return nil, tf.Errorf(tf.InvalidArgument, "the gradient must have the variable's shape: variable %v, gradient %v", s, g)
	}
	return merged, nil
}

// variableShapes returns the shape that all the variables have.
func variableShapes(c *core.Infer, vars []string) (s tf.Shape, err error) {
	for i, name := range vars {
		vs := c.In(i)
		if c.NumOut() == 0 {
			_, vs = c.Handle(i)
		}
		merged, ok := s.Merge(vs)
		if !ok {
			return nil, tf.Errorf(tf.InvalidArgument, "an optimizer's variables must have one shape: var %v, %s %v", s, name, vs)
		}
		s = merged
	}
	return s, nil
}
