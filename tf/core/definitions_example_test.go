package core_test

import (
	"errors"
	"fmt"
	"io/fs"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/ops"
)

// A definition in TensorFlow's notation, parsed.
func ExampleArgDef() {
	d := core.Lookup("Concat")
	attr := func(a core.AttrDef) string { return fmt.Sprint(a.Name, " is a ", a.TypeName()) }
	arg := func(a core.ArgDef) string {
		return fmt.Sprintf("%s: a list %v, as long as %q says", a.Name, a.IsList(), a.NumAttr)
	}
	for _, a := range d.Inputs {
		fmt.Println(arg(a))
	}
	for _, a := range d.AttrDefs {
		fmt.Println(attr(a))
	}
	// Output:
	// concat_dim: a list false, as long as "" says
	// values: a list true, as long as "N" says
	// N is a int
	// T is a type
}

// An attribute's values are checked against what the definition allows.
func ExampleAttrDef() {
	var a *core.AttrDef = core.Lookup("MatMul").Attr("T")
	fmt.Println(a.Kind, a.Default == nil)
	fmt.Println(a.Check(core.Float32))
	fmt.Println(core.CodeOf(a.Check(core.String)))
	// Output:
	// type true
	// <nil>
	// INVALID_ARGUMENT
}

// A kernel set finds the factory for a node's types.
func ExampleKernelSet() {
	var set core.KernelSet = halve.Kernels
	for _, d := range []core.DType{core.Float32, core.Int32} {
		n := &core.Node{Name: "y", Def: core.Lookup(halve.Name), Attrs: core.Attrs{"T": d, "times": int64(1)}}
		make, err := set.Find(n)
		fmt.Println(d, make != nil, core.CodeOf(err))
	}
	// Output:
	// float32 true OK
	// int32 false NOT_FOUND
}

// Operations without a gradient say why.
func ExampleNoGrad() {
	why := map[core.NoGrad]string{core.NotDifferentiable: "counts as a constant", core.NoGradientDefined: "fails"}
	for _, op := range []string{"Shape", "Bincount"} {
		fmt.Println(op, why[core.Lookup(op).NoGrad])
	}
	// Output:
	// Shape counts as a constant
	// Bincount fails
}

// Passes ask for roles and traits instead of names.
func ExampleRole() {
	for _, op := range []string{"Switch", "_Recv", "Add", "Identity"} {
		d := core.Lookup(op)
		var role core.Role = d.Role
		fmt.Println(op, role.DirectsFlow(), role.Transfers(), d.Has(core.Commutative), d.Has(core.View))
	}
	// Output:
	// Switch true false false false
	// _Recv false true false false
	// Add false false true false
	// Identity false false false true
}

func ExampleTraits() {
	const pure = core.Commutative | core.Reduction
	for _, op := range []string{"Add", "Sum", "MatMul"} {
		t := core.Lookup(op).Traits & pure
		fmt.Println(op, t != core.Traits(0))
	}
	// Output:
	// Add true
	// Sum true
	// MatMul false
}

// What is known of a node's inputs beside their shapes makes its outputs' shapes
// better known.
func ExampleKnown() {
	n, err := core.NewNode("y", "Reshape", core.Attrs{"T": core.Float32, "Tshape": core.Int32})
	if err != nil {
		fmt.Println(err)
		return
	}
	in := []core.Shape{{6}, {2}}
	for _, known := range []core.Known{{}, {Partial: func(int) (core.Shape, bool) { return core.Shape{-1, 3}, true }}} {
		out, _, err := n.Infer(in, known)
		fmt.Println(out, err)
	}
	// Output:
	// [[?,?]] <nil>
	// [[2,3]] <nil>
}

// Shape functions pass on what is known of the value behind a resource.
func ExampleHandleInfo() {
	n, err := core.NewNode("v", "VarHandleOp", core.Attrs{"dtype": core.Float32, "shape": core.Shape{2, 3}})
	if err != nil {
		fmt.Println(err)
		return
	}
	var behind []core.HandleInfo
	_, behind, err = n.Infer(nil, core.Known{})
	fmt.Println(behind[0].DType, behind[0].Shape, err)
	// Output: float32 [2,3] <nil>
}

// A type's reference form is what VariableV2 gives.
func ExampleDType() {
	var d core.DType = core.Float32
	fmt.Println(d, d.Size(), d.IsFloat(), d.Ref(), d.Ref().Base() == d)
	// Output: float32 4 true float32_ref true
}

// total adds elements of any type that is a number.
func total[T interface {
	core.Elem
	~int32 | ~float32
}](t *core.Tensor) (sum T) {
	for _, v := range core.Data[T](t) {
		sum += v
	}
	return sum
}

func ExampleElem() {
	t := core.Wrap([]int32{1, 2, 3}, core.Shape{3})
	fmt.Println(core.TypeOf[int32](), total[int32](t))
	// Output: int32 6
}

// Half and BF16 are the 16 bits of small floating point numbers.
func ExampleHalf() {
	t := core.Wrap([]core.Half{0x3c00, 0xc000}, core.Shape{2})
	b := core.Wrap([]core.BF16{0x3f80, 0xc000}, core.Shape{2})
	fmt.Println(t.DType(), core.Data[core.Half](t)[1].Float32())
	fmt.Println(b.DType(), core.Data[core.BF16](b)[1].Float32())
	// Output:
	// float16 -2
	// bfloat16 -2
}

// An error has a code, and if a node is to blame, its name. errors.Is finds the
// cause.
func ExampleError() {
	n, err := core.NewNode("table", "NoOp", nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	failed := core.AtNode(core.Errorf(core.NotFound, "no such file: %w", fs.ErrNotExist), n, nil)
	var e *core.Error
	fmt.Println(errors.As(failed, &e), e.Code, e.Node, errors.Is(failed, fs.ErrNotExist))
	var code core.Code = core.CodeOf(fmt.Errorf("reading: %w", failed))
	fmt.Println(code == core.NotFound)
	// Output:
	// true NOT_FOUND table true
	// true
}

// Parts of a device's name that are left open match anything.
func ExampleDeviceSpec() {
	var full, open core.DeviceSpec
	full, err := core.ParseDevice("/job:ps/replica:0/task:1/device:CPU:0")
	if err == nil {
		open, err = core.ParseDevice("/job:ps")
	}
	fmt.Println(open.Matches(full), open.Full(), full.TaskName(), err)
	// Output: true false /job:ps/replica:0/task:1 <nil>
}

// A graph's functions are found by name in its library; an attribute of a call
// names one, and a Placeholder stands for an attribute of the function around it.
func ExampleLibrary() {
	g := tf.NewGraph()
	f := tf.NewFunction(g, "double", []tf.ArgSpec{{DType: tf.Float32}}, func(args []tf.Output) []tf.Output {
		return []tf.Output{args[0].Mul(float32(2))}
	})
	f.Call([]tf.Output{ops.Scalar[float32](g, 1)})
	var library *core.Library
	library, _ = g.Library()
	var call core.Func = core.Func{Name: library.Names()[0]}
	var body *core.FunctionBody
	body, err := library.Body(call)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(len(body.Graph.Node), body.ArgTypes, body.RetTypes, body.Stateful)
	// Output: 4 [float32] [float32] false
}

// An attribute that a function's body takes from the call is a Placeholder.
func ExamplePlaceholder() {
	p, err := core.AttrProto(core.Placeholder("T"))
	if err != nil {
		fmt.Println(err)
		return
	}
	v, err := core.AttrFromProto(p, nil)
	fmt.Printf("%T %v %v\n", v, v, err)
	// Output: core.Placeholder T <nil>
}
