// Package gorge is TensorFlow 1.x's architecture as an embeddable Go library
// that speaks TensorFlow's own protocols. This package holds only this comment;
// begin with the packages below.
//
// Functions named after TensorFlow's operations build a graph, and a session
// runs it, in this process or on a cluster:
//
//	g := tf.NewGraph()
//	x := ops.Placeholder(g, tf.Float32, tf.Shape{-1, 784}, tf.Name("x"))
//	y := ops.Placeholder(g, tf.Int32, tf.Shape{-1})
//	h := layers.Dense(x, 512, layers.Relu)
//	logits := layers.Dense(h, 10)
//	loss := ops.SparseSoftmaxCrossEntropyWithLogits(y, logits).Mean()
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
// Graphs and the running of them:
//
//   - tf: graphs, operations, outputs; tensors, types, shapes; variables; functions; devices; gradients; errors
//   - tf/ops: the operations, each with its kernels and gradient; OPS.md lists them, and the packages below tf/ops
//   - tf/session: sessions, in process and on clusters
//   - tf/eager: graphs that compute as they are built, tapes, traced functions
//   - tf/cluster, tf/cluster/client: servers, and sessions on grpc:// targets; sessions alone, for programs that serve nothing
//
// Models and training:
//
//   - tf/vars: variable scopes and sharing by name
//   - tf/initializers, tf/initializers/orthogonal: initial values of variables
//   - tf/layers: building blocks of models
//   - tf/rnn: recurrent networks
//   - tf/feature: feature columns
//   - tf/estimator: models by a model function, and ready-made ones
//   - tf/estimator/clustered, tf/estimator/recurrent: tasks of clusters that train them; recurrent networks among the ready-made
//   - tf/losses, tf/metrics: what training makes small, and what is measured
//   - tf/savedmodel: models that TensorFlow has saved, and saving them for it
//   - tf/serving, tf/serving/restjson, tf/serving/servingmetrics: TensorFlow Serving's services over saved models, its JSON, its metrics
//   - tf/train: optimizers, schedules, averages, checkpoints, sessions that recover, hooks, queues of input
//   - tf/train/live: how training goes, in a terminal
//
// Data:
//
//   - tf/data: input pipelines
//   - tf/record, tf/example: TFRecord files and tf.Example records
//   - tf/image: images in graphs
//   - tf/dense, tf/dense/npy: tensors of gorgonia.org/tensor, and NumPy's files
//
// Tools:
//
//   - tf/summary, tf/timeline: files for TensorBoard and for Chrome
//   - tf/tftest: tests that compare tensors and gradients
//   - tf/optest: tests operations, those of a program too, in every way in which they can run
//   - cmd/gorge: a server as a program
//
// Authors of operations, devices and tools:
//
//   - tf/author: operands, calls of functions and their gradients, for functions that add operations
//   - tf/core: how operations are registered, what kernels see, the engine's tensors
//   - tf/pb, tf/pb/servingpb: protocol buffers of TensorFlow and of TensorFlow Serving
//
// ARCHITECTURE.md describes the inside; docs/tutorial leads from a first graph to a
// cluster, and docs/decisions says what was decided and why.
package gorge
