package savedmodel

import (
	"maps"
	"slices"

	"github.com/gorge-tf/gorge/tf/pb"
)

// Attributes by which package tf knows how to call a gradient function: of an argument, the
// output that it captures, and of the first one, the inputs that the results belong to.
const (
	capturedOutput = "_captured_output"
	gradientInputs = "_gradient_inputs"
	gradientOf     = "_gradient_op_type" // of a node, the name of its gradient
)

// noteGradients notes at the functions that compute gradients which a program has registered
// what the objects of the model say of them: the library alone does not tell it.
func noteGradients(mg *pb.MetaGraphDef) {
	library := mg.GetGraphDef().GetLibrary()
	if len(library.GetRegisteredGradients()) == 0 {
		return
	}
	functions := map[string]*pb.FunctionDef{}
	for _, f := range library.GetFunction() {
		functions[f.GetSignature().GetName()] = f
	}
	for _, r := range library.GetRegisteredGradients() {
		concrete := mg.GetObjectGraphDef().GetConcreteFunctions()[r.GetGradientFunc()]
		if f := functions[r.GetGradientFunc()]; f != nil && concrete != nil {
			noteCaptures(mg, f, concrete, around(library, r.GetRegisteredOpType()))
			noteResults(f, concrete.GetOutputSignature())
		}
	}
}

// around returns the function with the node that has a gradient of a name, nil if there is
// none.
func around(library *pb.FunctionDefLibrary, gradient string) *pb.FunctionDef {
	for _, f := range library.GetFunction() {
		for _, n := range f.GetNodeDef() {
			if string(n.GetAttr()[gradientOf].GetS()) == gradient {
				return f
			}
		}
	}
	return nil
}

// noteCaptures notes which outputs beside the node in function of the last arguments of f are.
func noteCaptures(mg *pb.MetaGraphDef, f *pb.FunctionDef, concrete *pb.SavedConcreteFunction, of *pb.FunctionDef) {
	own := len(f.GetSignature().GetInputArg()) - len(concrete.GetBoundInputs())
	for i, object := range concrete.GetBoundInputs() {
		name := argumentFor(mg, of, object)
		if c := savedObject(mg, object).GetCapturedTensor(); c.GetConcreteFunction() == of.GetSignature().GetName() {
			name = c.GetName()
		}
		if name == "" || own < 0 {
			continue // who asks for the gradient is told
		}
		note(f, own+i, capturedOutput, &pb.AttrValue{Value: &pb.AttrValue_S{S: []byte(name)}})
	}
}

// note gives an argument of f an attribute. Other functions may share those that it has.
func note(f *pb.FunctionDef, arg int, attr string, v *pb.AttrValue) {
	a := &pb.FunctionDef_ArgAttrs{Attr: map[string]*pb.AttrValue{}}
	maps.Copy(a.Attr, f.GetArgAttr()[uint32(arg)].GetAttr())
	a.Attr[attr] = v
	all := map[uint32]*pb.FunctionDef_ArgAttrs{}
	maps.Copy(all, f.GetArgAttr())
	all[uint32(arg)] = a
	f.ArgAttr = all
}

// argumentFor returns the argument of a function to which an object is bound, as a variable
// that the gradient reads too; "" if none is.
func argumentFor(mg *pb.MetaGraphDef, f *pb.FunctionDef, object int32) string {
	args := f.GetSignature().GetInputArg()
	bound := mg.GetObjectGraphDef().GetConcreteFunctions()[f.GetSignature().GetName()].GetBoundInputs()
	i := slices.Index(bound, object)
	if i < 0 || len(bound) > len(args) {
		return ""
	}
	return args[len(args)-len(bound)+i].GetName()
}

// noteResults notes for which inputs f has gradients: its result has None for others.
func noteResults(f *pb.FunctionDef, result *pb.StructuredValue) {
	values := result.GetListValue().GetValues()
	if t := result.GetTupleValue(); t != nil {
		values = t.GetValues()
	}
	inputs := &pb.AttrValue_ListValue{}
	for i, v := range values {
		if _, none := v.GetKind().(*pb.StructuredValue_NoneValue); !none {
			inputs.I = append(inputs.I, int64(i))
		}
	}
	if len(inputs.I) != len(f.GetSignature().GetOutputArg()) {
		return
	}
	note(f, 0, gradientInputs, &pb.AttrValue{Value: &pb.AttrValue_List{List: inputs}})
}
