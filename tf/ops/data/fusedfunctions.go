package data

import (
	"fmt"
	"slices"

	"github.com/gorge-tf/gorge/internal/dataset"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/pb"
)

// A fuser makes functions of two that datasets call one after the other.
type fuser struct {
	functions     core.FunctionLibrary
	library       *core.Library
	first, second *pb.FunctionDef
}

// newFuser returns the fuser of two datasets' functions; nil: they have none, what
// they have from outside would have to be joined too, or one of them has
// arguments of types that only a call tells.
func newFuser(first, second *dataset.Origin, firstAttr, secondAttr string) *fuser {
	functions, ok := second.Functions.(core.FunctionLibrary)
	if !ok || len(types(first.Node, "Targuments")) > 0 || len(types(second.Node, "Targuments")) > 0 {
		return nil
	}
	l := functions.Library()
	if other := libraryOf(first); other != l {
		var err error
		if l, err = l.Merge(other.Proto()); err != nil {
			return nil // functions of the same name
		}
	}
	u := &fuser{functions, l, l.Find(first.Node.FuncAttr(firstAttr).Name), l.Find(second.Node.FuncAttr(secondAttr).Name)}
	if u.first == nil || u.second == nil || !typed(u.first.GetSignature()) || !typed(u.second.GetSignature()) {
		return nil
	}
	return u
}

func types(n *core.Node, attr string) []tf.DType {
	list, _ := n.Attr(attr).([]tf.DType)
	return list
}

func typed(s *pb.OpDef) bool {
	own := func(a *pb.OpDef_ArgDef) bool { return a.GetType() == 0 || a.GetNumberAttr() != "" || a.GetIsRef() }
	return !slices.ContainsFunc(s.GetInputArg(), own) && !slices.ContainsFunc(s.GetOutputArg(), own)
}

// with returns the caller of functions that have been made too.
func (u *fuser) with(made ...*pb.FunctionDef) (core.FunctionCaller, error) {
	l, err := u.library.Merge(&pb.FunctionDefLibrary{Function: made})
	if err != nil {
		return nil, err
	}
	return u.functions.With(l), nil
}

// name is that of a function that is made of both.
func (u *fuser) name(kind string) string {
	return kind + "/" + u.first.GetSignature().GetName() + "/" + u.second.GetSignature().GetName()
}

// Names of the nodes in functions that are made; arguments have no slashes.
const (
	nodeFirst  = "fused/first"
	nodeSecond = "fused/second"
)

// composed is the second function of what the first one returns.
func (u *fuser) composed(name string) (*pb.FunctionDef, error) {
	if !sameTypes(u.first.GetSignature().GetOutputArg(), u.second.GetSignature().GetInputArg()) {
		return nil, nil
	}
	f := functionDef(name, u.first.GetSignature().GetInputArg())
	given, err := u.call(f, nodeFirst, u.first, argNames(u.first.GetSignature().GetInputArg()))
	if err != nil {
		return nil, err
	}
	results, err := u.call(f, nodeSecond, u.second, given)
	if err != nil {
		return nil, err
	}
	returns(f, u.second.GetSignature().GetOutputArg(), results)
	return f, nil
}

// combined returns what the first function does and what the second one makes of
// that.
func (u *fuser) combined(name string) (*pb.FunctionDef, error) {
	f, err := u.composed(name)
	if f == nil || err != nil || len(f.GetSignature().GetOutputArg()) == 0 {
		return nil, err
	}
	given := u.first.GetSignature().GetOutputArg()
	last, result := f.GetSignature().GetOutputArg(), f.GetRet()[f.GetSignature().GetOutputArg()[0].GetName()]
	f.Signature.OutputArg, f.Ret = nil, map[string]string{}
	returns(f, slices.Concat(given, last[:1]), append(outputNames(nodeFirst, len(given)), result))
	return f, nil
}

// both is the second condition where the first one holds, else false.
func (u *fuser) both(name string) (f, never *pb.FunctionDef, err error) {
	in, out := u.second.GetSignature().GetInputArg(), u.second.GetSignature().GetOutputArg()
	if !sameTypes(u.first.GetSignature().GetInputArg(), in) || len(out) != 1 || !sameTypes(u.first.GetSignature().GetOutputArg(), out) {
		return nil, nil, nil
	}
	never = functionDef(name+"/never", in)
	if err := node(never, nodeFirst, "Const", nil, core.Attrs{"dtype": tf.Bool, "value": core.Scalar(false)}); err != nil {
		return nil, nil, err
	}
	returns(never, out, []string{nodeFirst + ":output:0"})
	f = functionDef(name, in)
	holds, err := u.call(f, nodeFirst, u.first, argNames(in))
	if err != nil {
		return nil, nil, err
	}
	op := "StatelessIf"
	if u.hasState(u.second) {
		op = "If"
	}
	err = node(f, nodeSecond, op, append(holds, argNames(in)...), core.Attrs{
		"Tcond": tf.Bool, "Tin": argTypes(in), "Tout": argTypes(out), "output_shapes": []tf.Shape{},
		"then_branch": core.Func{Name: u.second.GetSignature().GetName()}, "else_branch": core.Func{Name: never.GetSignature().GetName()},
	})
	returns(f, out, []string{nodeSecond + ":output:0"})
	return f, never, err
}

// call adds the call of a function to another and returns the names of what it
// returns.
func (u *fuser) call(in *pb.FunctionDef, name string, f *pb.FunctionDef, args []string) ([]string, error) {
	op, s := "PartitionedCall", f.GetSignature()
	if u.hasState(f) {
		op = "StatefulPartitionedCall"
	}
	err := node(in, name, op, args, core.Attrs{
		"Tin": argTypes(s.GetInputArg()), "Tout": argTypes(s.GetOutputArg()), "f": core.Func{Name: s.GetName()},
		"config": "", "config_proto": "", "executor_type": "",
	})
	return outputNames(name, len(s.GetOutputArg())), err
}

func (u *fuser) hasState(f *pb.FunctionDef) bool {
	return effectOf(u.library, f.GetSignature().GetName(), map[string]bool{}) != ""
}

// chosen is the function of some arguments that returns those from lo up to hi.
func chosen(name string, args []*pb.OpDef_ArgDef, lo, hi int) *pb.FunctionDef {
	f := functionDef(name, args)
	returns(f, args[lo:hi], argNames(args[lo:hi]))
	return f
}

func functionDef(name string, in []*pb.OpDef_ArgDef) *pb.FunctionDef {
	f := &pb.FunctionDef{Signature: &pb.OpDef{Name: name}, Ret: map[string]string{}}
	for _, a := range in {
		f.Signature.InputArg = append(f.Signature.InputArg, &pb.OpDef_ArgDef{Name: a.GetName(), Type: a.GetType()})
	}
	return f
}

func node(f *pb.FunctionDef, name, op string, in []string, attrs core.Attrs) error {
	own, err := core.AttrsProto(attrs)
	f.NodeDef = append(f.NodeDef, &pb.NodeDef{Name: name, Op: op, Input: in, Attr: own})
	return err
}

// returns lets a function return values of the types of other arguments.
func returns(f *pb.FunctionDef, like []*pb.OpDef_ArgDef, values []string) {
	for i, a := range like {
		name := fmt.Sprint("result_", i)
		f.Signature.OutputArg = append(f.Signature.OutputArg, &pb.OpDef_ArgDef{Name: name, Type: a.GetType()})
		f.Ret[name] = values[i]
	}
}

func outputNames(node string, n int) []string {
	names := core.Make[string](n)
	for i := range names {
		names[i] = fmt.Sprint(node, ":output:", i)
	}
	return names
}

func argNames(args []*pb.OpDef_ArgDef) []string {
	names := make([]string, len(args))
	for i, a := range args {
		names[i] = a.GetName()
	}
	return names
}

func argTypes(args []*pb.OpDef_ArgDef) []tf.DType {
	list := make([]tf.DType, len(args))
	for i, a := range args {
		list[i] = tf.DType(a.GetType())
	}
	return list
}

// sameTypes reports whether values can be arguments.
func sameTypes(values, args []*pb.OpDef_ArgDef) bool {
	return slices.Equal(argTypes(values), argTypes(args))
}
