// Package savedmodel runs models that TensorFlow has saved, and saves models that
// TensorFlow runs.
//
//	m, err := savedmodel.Load(ctx, "model", savedmodel.Options{})
//	if err != nil {
//		return err
//	}
//	defer m.Close()
//	out, err := m.Signature("serving_default").Run(ctx, map[string]any{"x": [][]float32{{1, 2, 3}}})
//	if err != nil {
//		return err
//	}
//	y, err := savedmodel.Values[float32](out, "y")
//
// # Loading
//
// A SavedModel is a directory: saved_model.pb (or .pbtxt) holds MetaGraphs, each
// with tags; variables/ is a checkpoint; assets/ has files that the graph reads,
// such as vocabularies. Load does what TensorFlow's loader does in C++: it
// chooses the MetaGraph that has exactly the wanted tags, adds its graph to a new
// session, runs its restore operation and then its initialization operation.
// Models of TensorFlow 1 and 2 are loaded alike.
//
// Some models of TensorFlow 2 cannot be restored in this way, because the
// variables that the restore operation sets are not those that the signatures
// read. Keras 3 writes such models. Load finds out and then restores variables by
// their paths in the graph of objects, as TensorFlow's loader in Python does.
//
// # Running
//
// A [Signature] has inputs and outputs by name. Values are checked against their
// types and shapes; each error names the input it is about. Signatures may run in
// many goroutines. Variables and tables are shared by all signatures of a model
// and keep their state from call to call.
//
// # Saving
//
// A [Builder] writes a SavedModel from graphs and sessions.
package savedmodel
