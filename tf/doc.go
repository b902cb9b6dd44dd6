// Package tf has what a program builds and holds: graphs, operations and their
// outputs, tensors, types and shapes, variables, functions, devices, gradients
// and errors. The operations themselves are functions of package ops. Package
// session runs graphs; package eager computes without sessions.
//
//	g := tf.NewGraph()
//	x := ops.Placeholder(g, tf.Float32, tf.Shape{-1, 3}, tf.Name("x"))
//	w := tf.NewVariable(ops.Const(g, weights, 3, 2), tf.VariableOptions{Name: "w"})
//	y := ops.MatMul(x, w.Value())
//	dw, err := tf.Gradients(y, w.Handle())
//
// # Errors
//
// Functions that add operations return no errors. The graph keeps the first
// mistake, and so does each Output that depends on it. Sessions, Gradients and
// whatever else takes a graph or an Output return it. The error names the
// program's line, the operation and its inputs:
//
//	main.go:30: MatMul "MatMul_3"(x:0 float32[?,784], w:0 float32[10,3]): ...
//
// # Memory
//
// A [Tensor] is ordinary Go memory that belongs to the program. What a session
// or an eager graph returns is never shared with its state: the program may keep
// it and write to it. What a program feeds is copied before it is used. [Adopt]
// gives memory away, so that no copy is needed.
//
// # Operations of one's own
//
// Package [github.com/gorge-tf/gorge/tf/core] is for authors of operations,
// kernels and devices. There, Register makes an operation known: its signature in
// TensorFlow's notation, what it means for shapes, and kernels by element type.
// [GradFunc] says how gradients flow through it, and [Apply] adds it to a graph.
// Package
// [github.com/gorge-tf/gorge/tf/author] makes operands of Go values and calls
// functions. The functions of package ops do no more than that. CONTRIBUTING.md has a
// complete example.
package tf
