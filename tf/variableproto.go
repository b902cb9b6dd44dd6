package tf

import (
	"slices"
	"strings"

	"google.golang.org/protobuf/proto"

	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/pb"
)

// A SliceInfo says which part of a larger variable a variable holds. Savers
// write it so that the whole can be restored in other parts.
type SliceInfo struct {
	FullName  string // of the whole, its key in a checkpoint
	FullShape Shape
	Offset    []int
	Shape     Shape // of the part
}

// Slice returns which part of a larger variable v holds, nil if v is whole.
func (v *Variable) Slice() *SliceInfo { return v.sure().slice }

// SetSlice says that v is a part of a larger variable.
func (v *Variable) SetSlice(s SliceInfo) {
	v = v.sure()
	if v.slice = &s; v.Graph() != nil {
		v.told(v.Graph())
	}
}

// Proto returns v in the form in which MetaGraphs hold it. Names lose the prefix
// scope, if it is not empty. It returns nil if v is not in that scope.
func (v *Variable) Proto(scope string) *pb.VariableDef {
	if scope != "" && !strings.HasPrefix(v.name, scope+"/") {
		return nil
	}
	p := &pb.VariableDef{
		VariableName: strip(v.handle.Name(), scope), IsResource: !v.ref, Trainable: v.train,
		SnapshotName: strip(v.Value().Name(), scope), SaveSliceInfoDef: v.slice.proto(),
	}
	if v.init != nil {
		p.InitializerName = strip(v.init.Name, scope)
	}
	if !v.initial.IsZero() {
		p.InitialValueName = strip(v.initial.Name(), scope)
	}
	return p
}

func (s *SliceInfo) proto() *pb.SaveSliceInfoDef {
	if s == nil {
		return nil
	}
	return &pb.SaveSliceInfoDef{FullName: s.FullName, FullShape: wide(s.FullShape), VarOffset: wide(s.Offset), VarShape: wide(s.Shape)}
}

func wide(v []int) []int64 {
	out := make([]int64, len(v))
	for i, x := range v {
		out[i] = int64(x)
	}
	return out
}

func narrow(v []int64) []int {
	out := make([]int, len(v))
	for i, x := range v {
		out[i] = int(x)
	}
	return out
}

// ImportVariable returns the variable that def describes, whose operations g has
// already, below scope if that is not empty. It joins no collection.
func (g *Graph) ImportVariable(def *pb.VariableDef, scope string) (*Variable, error) {
	im := finder{g: g, scope: scope}
	v := &Variable{ref: !def.GetIsResource(), handle: im.output(def.GetVariableName()), train: def.GetTrainable()}
	if name := def.GetInitializerName(); name != "" {
		v.init = im.operation(name)
	}
	if name := def.GetInitialValueName(); name != "" {
		v.initial = im.output(name)
	}
	if name := def.GetSnapshotName(); name != "" {
		v.read = im.output(name)
	}
	if im.err != nil {
		return nil, im.err
	}
	if s := def.GetSaveSliceInfoDef(); s != nil {
		v.slice = &SliceInfo{im.name(s.GetFullName()), narrow(s.GetFullShape()), narrow(s.GetVarOffset()), narrow(s.GetVarShape())}
	}
	return v, v.adopt()
}

// adopt takes from the nodes of an imported variable what its proto doesn't say.
func (v *Variable) adopt() error {
	op := v.handle.op
	v.name = op.Name
	v.dtype, v.shape = v.handle.DType().Base(), v.handle.Shape()
	if !v.ref {
		dtype, ok := op.Attr("dtype").(DType)
		shape, _ := op.Attr("shape").(Shape)
		if !ok || v.handle.DType() != Resource {
			return Errorf(InvalidArgument, "a resource variable's node must be a handle with a dtype, got %s of %s", op.Name, op.OpName())
		}
		v.dtype, v.shape = dtype, shape
	} else if !v.handle.DType().IsRef() {
		return Errorf(InvalidArgument, "a reference variable's node must put out a reference, got %s of %s", op.Name, op.OpName())
	}
	for _, user := range op.g.Operations() {
		if user.Def.Has(core.TestsVariable) && len(user.in) == 1 && user.in[0] == v.handle {
			v.isInit = user.Output(0)
			break
		}
	}
	return nil
}

// finder finds what protos name, below a scope if that is not empty; it keeps the
// first error.
type finder struct {
	g     *Graph
	scope string
	err   error
}

func (n *finder) name(s string) string {
	if n.scope == "" {
		return s
	}
	return n.scope + "/" + s
}

func (n *finder) output(name string) Output {
	x, err := n.g.Output(n.name(name))
	if err != nil && n.err == nil {
		n.err = err
	}
	return x
}

func (n *finder) outputs(names []string) []Output {
	out := make([]Output, len(names))
	for i, name := range names {
		out[i] = n.output(name)
	}
	return out
}

func (n *finder) operation(name string) *Operation {
	op := n.g.Operation(n.name(name))
	if op == nil && n.err == nil {
		n.err = Errorf(NotFound, "The name '%s' refers to an Operation not in the graph.", n.name(name))
	}
	return op
}

// decodeVariable reads an element of a collection of variables. Collections
// share the variables they have in common.
func decodeVariable(g *Graph, data []byte, scope string) (any, error) {
	var def pb.VariableDef
	if err := proto.Unmarshal(data, &def); err != nil {
		return nil, Errorf(InvalidArgument, "a collection of variables must hold VariableDefs: %v", err)
	}
	handle := (&finder{g: g, scope: scope}).name(def.GetVariableName())
	for _, c := range variableCollections {
		have := Variables(g, c)
		if i := slices.IndexFunc(have, func(v *Variable) bool { return v.handle.Name() == handle }); i >= 0 {
			return have[i], nil
		}
	}
	return g.ImportVariable(&def, scope)
}
