package ops_test

import (
	"context"
	"fmt"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/eager"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/session"
)

// Two handles of one shared name are one variable.
func ExampleVarHandleOp() {
	g := eager.New()
	a := ops.VarHandleOp(g, tf.Float32, tf.Shape{2}, ops.VarHandleOpts{SharedName: "v"})
	b := ops.VarHandleOp(g, tf.Float32, tf.Shape{2}, ops.VarHandleOpts{SharedName: "v"})
	if err := ops.AssignVariableOp(a, ops.Const(g, []float32{1, 2})).Err(); err != nil {
		fmt.Println(err)
		return
	}
	v, err := ops.ReadVariableOp(b, tf.Float32).Value()
	fmt.Println(v, err)
	// Output: float32[2]{1, 2} <nil>
}

// A variable whose shape is open takes any value, unless ValidateShape wants
// the shape that it has.
func ExampleAssignVariableOp() {
	g := eager.New()
	v := ops.VarHandleOp(g, tf.Float32, nil)
	two, three := ops.Const(g, []float32{1, 2}), ops.Const(g, []float32{1, 2, 3})
	fmt.Println(ops.AssignVariableOp(v, two).Err())
	fmt.Println(ops.AssignVariableOp(v, three).Err())
	err := ops.AssignVariableOp(v, two, ops.AssignVariableOpts{ValidateShape: true}).Err()
	fmt.Println(tf.CodeOf(err))
	// Output:
	// <nil>
	// <nil>
	// INVALID_ARGUMENT
}

// Deleting a resource that is not there is an error if MustExist is set.
func ExampleDestroyResourceOp() {
	g := eager.New()
	v := ops.VarHandleOp(g, tf.Float32, tf.Shape{2})
	fmt.Println(ops.DestroyResourceOp(v).Err())
	err := ops.DestroyResourceOp(v, ops.DestroyResourceOpts{MustExist: true}).Err()
	fmt.Println(tf.CodeOf(err))
	// Output:
	// <nil>
	// NOT_FOUND
}

// Reference variables are those of TensorFlow's older graphs: their output is
// the variable itself. Nodes of one shared name are one variable.
func ExampleVariableV2() {
	g := tf.NewGraph()
	shared := ops.VariableOpts{SharedName: "total"}
	a, b := ops.VariableV2(g, tf.Float32, tf.Shape{2}, shared), ops.VariableV2(g, tf.Float32, tf.Shape{2}, shared)
	assign := ops.Assign(a, ops.Const(g, []float32{1, 2}))
	add := ops.AssignAdd(b, ops.Const(g, []float32{10, 10}), tf.After(assign.Operation()))
	s, err := session.New(g)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer s.Close()
	v, err := session.Fetch[float32](context.Background(), s, nil, add)
	fmt.Println(v, err)
	// Output: [11 12] <nil>
}

// A reference variable keeps its shape unless AnyShape is set.
func ExampleAssign() {
	g := tf.NewGraph()
	v := ops.VariableV2(g, tf.Float32, tf.Shape{2})
	three := ops.Const(g, []float32{1, 2, 3})
	fmt.Println(ops.Assign(v, three, ops.AssignOpts{AnyShape: true}).Err())
	fmt.Println(tf.CodeOf(ops.Assign(v, three).Err()))
	// Output:
	// <nil>
	// INVALID_ARGUMENT
}

// What is pushed last is popped first. A stack lasts for a step.
func ExampleStackV2() {
	g := tf.NewGraph()
	stack := ops.StackV2(ops.Scalar[int32](g, -1), tf.Float32, ops.StackOpts{StackName: "activations"})
	push := ops.StackPushV2(stack, ops.Const(g, []float32{1, 2}))
	more := ops.StackPushV2(stack, ops.Const(g, []float32{3, 4}), tf.After(push.Operation()))
	x := ops.StackPopV2(stack, tf.Float32, tf.After(more.Operation()))
	y := ops.StackPopV2(stack, tf.Float32, tf.After(x.Operation()))
	s, err := session.New(g)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer s.Close()
	out, err := s.Run(context.Background(), nil, x, y)
	fmt.Println(out, err)
	// Output: [float32[2]{3, 4} float32[2]{1, 2}] <nil>
}

// A TensorArray collects tensors within a step. Each write returns the array
// to be used from then on.
func ExampleTensorArray() {
	g := eager.New()
	a := ops.NewTensorArray(ops.Scalar[int32](g, 2), tf.Float32, ops.TensorArrayOpts{})
	a = a.Write(ops.Scalar[int32](g, 1), ops.Const(g, []float32{3, 4}))
	a = a.Write(ops.Scalar[int32](g, 0), ops.Const(g, []float32{1, 2}))
	v, err := a.Stack().Value()
	fmt.Println(v, err)
	// Output: float32[2,2]{1, 2, 3, 4} <nil>
}

// DynamicSize lets an array grow, AnyShape lets its elements differ in shape,
// KeepAfterRead lets them be read again.
func ExampleTensorArrayOpts() {
	g := eager.New()
	o := ops.TensorArrayOpts{DynamicSize: true, AnyShape: true, KeepAfterRead: true}
	a := ops.NewTensorArray(ops.Scalar[int32](g, 0), tf.Float32, o)
	a = a.Write(ops.Scalar[int32](g, 0), ops.Const(g, []float32{1, 2}))
	a = a.Write(ops.Scalar[int32](g, 1), ops.Const(g, []float32{3}))
	for range 2 {
		v, err := a.Read(ops.Scalar[int32](g, 0)).Value()
		fmt.Println(v, err)
	}
	v, err := a.Concat().Value()
	fmt.Println(v, err)
	// Output:
	// float32[2]{1, 2} <nil>
	// float32[2]{1, 2} <nil>
	// float32[3]{1, 2, 3} <nil>
}
