// Package gorge is TensorFlow 1.x's architecture as an embeddable Go library
// that speaks TensorFlow's own protocols. This package holds only what you are
// reading; begin with the packages below.
//
// A graph is built with functions that are called as TensorFlow's operations
// are, and run by a session, in this process or on a cluster:
//
//	g := tf.NewGraph()
//	x := ops.Placeholder(g, tf.Float32, tf.Shape{-1, 784}, tf.Name("x"))
//	y := ops.Placeholder(g, tf.Int32, tf.Shape{-1})
//	h := layers.Dense(x, 512, layers.Relu)
//	logits := layers.Dense(h, 10)
//	loss := ops.SparseSoftmaxCrossEntropyWithLogits(logits, y).Mean()
//	step := train.Adam{LearningRate: 1e-3}.Minimize(loss)
//	start := tf.InitializeAll(g)
//
//	s, err := session.New(g) // or session.New(g, session.Target("grpc://worker0:2222"))
//	if err != nil {
//		return err // a mistake made above, by file and line
//	}
//	defer s.Close()
//	_, err = s.Run(ctx, nil, start)
//	...
//	l, err := session.Fetch[float32](ctx, s, session.Feeds{x: images, y: labels}, loss, step)
//
// The same functions compute at once on a graph made by eager.New.
//
// The packages:
//
//   - tf: data types, shapes, tensors; graphs, operations, outputs; variables; devices; how operations are registered; gradients; errors
//   - tf/ops: the operations, each with its kernels and gradient; OPS.md lists them
//   - tf/session: sessions; tf/eager: graphs that compute as they are built
//   - tf/train, tf/layers: optimizers, layers
//   - tf/cluster: servers, and sessions on grpc:// targets
//   - tf/tftest: comparing tensors in tests
//   - cmd/gorge: a server as a program
//
// ARCHITECTURE.md tells how it works inside.
package gorge
