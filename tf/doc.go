// Package tf has the nouns: graphs, operations and their outputs, tensors,
// types and shapes, variables, devices, gradients and errors. The verbs, the
// operations themselves, are functions of package ops; sessions, which run
// graphs, are in package session, and package eager computes without them.
//
//	g := tf.NewGraph()
//	x := ops.Placeholder(g, tf.Float32, tf.Shape{-1, 3}, tf.Name("x"))
//	w := tf.NewVariable(ops.Const(g, weights, 3, 2), tf.VariableOptions{Name: "w"})
//	y := ops.MatMul(x, w.Value())
//	dw, err := tf.Gradients(y, w.Handle())
//
// # Errors
//
// Functions that add operations return no errors. The first mistake stays with
// the graph, and with each Output that depends on it; sessions, Gradients and
// whatever else takes a graph or an Output return it. It names the program's
// line, the operation and what its inputs were:
//
//	main.go:30: MatMul "MatMul_3"(x:0 float32[? 784], w:0 float32[10 3]): ...
//
// # Operations of one's own
//
// Register makes an operation known: its signature in TensorFlow's notation,
// what it means for shapes, kernels by element type, and how gradients flow
// through it. Apply adds it to a graph. Package ops does no more than that.
//
// # Memory
//
// Tensors are reference counted inside of a session, so that memory is used
// again, and ordinary Go values outside: what a session or an eager graph
// returns stays valid, elements included, for as long as the program holds it.
package tf
