package savedmodel

import (
	"cmp"
	"context"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/gorge-tf/gorge/internal/bundle"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/ops/checkpoint"
	"github.com/gorge-tf/gorge/tf/ops/lookup"
	"github.com/gorge-tf/gorge/tf/pb"
	"github.com/gorge-tf/gorge/tf/session"
)

// stored is a variable, or a table that changes, as a checkpoint holds it.
type stored struct {
	key    string // in the checkpoint
	handle string // the tensor that assignments take
	read   tf.Output
	dtype  tf.DType
	part   *tf.SliceInfo  // nil: the variable is whole
	values tf.Output      // of a table, whose keys are read; zero: it is a variable
	from   *bundle.Reader // of a tensor that is copied from a checkpoint and has no handle; else nil
}

// entry is a tensor of a checkpoint.
type entry struct {
	key, spec string
	dtype     tf.DType
	read      tf.Output
}

// entries returns the tensors that hold s: one, or the keys and values of a table
// under the names that TensorFlow gives them.
func (s *stored) entries() []entry {
	if s.from != nil {
		return nil // the graph neither reads nor sets it
	}
	if s.isTable() {
		return []entry{
			{key: s.key + "-keys", dtype: s.read.DType(), read: s.read},
			{key: s.key + "-values", dtype: s.values.DType(), read: s.values},
		}
	}
	return []entry{{s.key, s.spec(), s.dtype, s.read}}
}

func (s *stored) isTable() bool { return !s.values.IsZero() }

// variablesOf returns the global variables of g.
func variablesOf(g *tf.Graph) ([]stored, error) {
	var out []stored
	for _, v := range tf.Variables(g, tf.GlobalVariables) {
		s := stored{key: v.Name(), handle: v.Handle().Name(), read: v.Value(), dtype: v.DType(), part: v.Slice()}
		if s.part != nil {
			s.key = s.part.FullName
		}
		out = append(out, s)
	}
	return out, checkStored(out)
}

// checkStored refuses two variables of one name.
func checkStored(all []stored) error {
	seen := map[string]bool{}
	for _, s := range all {
		key := s.key + " " + s.spec()
		if seen[key] {
			return tf.Errorf(tf.InvalidArgument, "variables must have different names, two are named %q", s.key)
		}
		seen[key] = true
	}
	return nil
}

// spec returns the part of the whole that s is, as SaveV2 and RestoreV2 take it.
func (s *stored) spec() string {
	if s.part == nil {
		return ""
	}
	var dims []string
	for _, d := range s.part.FullShape {
		dims = append(dims, strconv.Itoa(d))
	}
	return strings.Join(dims, " ") + " " + s.slice().String()
}

func (s *stored) slice() bundle.Slice {
	out := make(bundle.Slice, len(s.part.Shape))
	for i, n := range s.part.Shape {
		out[i] = bundle.Extent{Start: int64(s.part.Offset[i]), Length: int64(n)}
	}
	return out
}

// addSaver adds the operations that save and restore variables to the graph of p,
// named as TensorFlow names them.
func addSaver(p *pb.MetaGraphDef, vars []stored) error {
	if !slices.ContainsFunc(vars, func(v stored) bool { return v.from == nil }) {
		return nil
	}
	g := tf.NewGraph()
	if err := g.ImportProto(p.GetGraphDef(), tf.ImportOptions{}); err != nil {
		return err
	}
	var err error
	g.Scope("save", func() { p.SaverDef, err = saverOps(g, vars) })
	if err != nil {
		return err
	}
	def, err := g.GraphProto(0)
	if err != nil {
		return err
	}
	p.GraphDef = def
	return nil
}

// saverOps adds the operations to g.
func saverOps(g *tf.Graph, vars []stored) (*pb.SaverDef, error) {
	file := ops.ConstTensor(g, tf.Scalar("model"), tf.Name("Const"))
	var names, specs []string
	var types []tf.DType
	var values []tf.Output
	for _, v := range vars {
		for _, e := range v.entries() {
			x, err := g.Output(e.read.Name())
			if err != nil {
				return nil, err
			}
			names, specs, types, values = append(names, e.key), append(specs, e.spec), append(types, e.dtype), append(values, x)
		}
	}
	keys, parts := ops.Const(g, names, len(names)), ops.Const(g, specs, len(specs))
	save := checkpoint.SaveV2(file, keys, parts, values)
	var done tf.Output
	g.ControlDependencies([]*tf.Operation{save}, func() { done = ops.Identity(file, tf.Name("control_dependency")) })
	restored := checkpoint.RestoreV2(file, keys, parts, types)
	var assigns []*tf.Operation
	for _, v := range vars {
		if v.from != nil {
			continue
		}
		handle, err := g.Output(v.handle)
		if err != nil {
			return nil, err
		}
		n := len(v.entries())
		assigns = append(assigns, v.set(handle, restored[:n]))
		restored = restored[n:]
	}
	all := tf.Group(g, "restore_all", assigns...)
	def := &pb.SaverDef{
		FilenameTensorName: file.Name(), SaveTensorName: done.Name(), RestoreOpName: all.Name,
		MaxToKeep: 5, KeepCheckpointEveryNHours: 10000, Version: pb.SaverDef_V2,
	}
	return def, g.Err()
}

// set adds the operation that gives s what a checkpoint has.
func (s *stored) set(handle tf.Output, restored []tf.Output) *tf.Operation {
	if s.isTable() {
		return lookup.LookupTableImportV2(handle, restored[0], restored[1])
	}
	return assign(handle, restored[0], s.dtype)
}

// assign adds the assignment of x to the variable of a handle or reference.
func assign(handle, x tf.Output, d tf.DType) *tf.Operation {
	if handle.DType() == tf.Resource {
		return tf.Apply(nil, "AssignVariableOp", []tf.Output{handle, x}, tf.Attr("dtype", d))
	}
	return tf.Apply(nil, "Assign", []tf.Output{handle, x})
}

// writeVariables writes the values that variables have in a session, one after the
// other: a model may be larger than the memory that is left.
func writeVariables(ctx context.Context, s *session.Session, vars []stored, prefix string) error {
	if err := os.MkdirAll(filepath.Dir(prefix), 0o755); err != nil {
		return core.FileError(prefix, err)
	}
	if len(vars) == 0 {
		return nil
	}
	w, err := bundle.Create(prefix)
	if err != nil {
		return err
	}
	defer w.Abort()
	slices.SortStableFunc(vars, func(a, b stored) int { return strings.Compare(a.key, b.key) })
	for _, v := range vars {
		if err := v.write(ctx, s, w); err != nil {
			e := tf.AsError(err) // Plain says what to do if the variable is not initialized
			return tf.Errorf(e.Code, "variable %q: %s", v.key, cmp.Or(e.Plain, e.Message()))
		}
	}
	return w.Finish()
}

func (v *stored) write(ctx context.Context, s *session.Session, w *bundle.Writer) error {
	if v.from != nil {
		t, err := v.from.Lookup(v.key)
		if err != nil {
			return err
		}
		return w.Add(v.key, t)
	}
	var fetches []tf.Fetchable
	for _, e := range v.entries() {
		fetches = append(fetches, e.read)
	}
	got, err := s.Run(ctx, nil, fetches...) // keys and values of a table at once
	if err != nil {
		return err
	}
	if v.part != nil {
		return w.AddSlice(v.key, v.part.FullShape, v.slice(), (*core.Tensor)(got[0]))
	}
	for i, e := range v.entries() {
		if err := w.Add(e.key, (*core.Tensor)(got[i])); err != nil {
			return err
		}
	}
	return nil
}
