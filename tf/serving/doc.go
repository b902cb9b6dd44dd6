// Package serving answers TensorFlow Serving's clients with SavedModels: by gRPC
// and by REST, with TensorFlow Serving's names, rules and error texts.
//
//	s, err := serving.New(serving.Config{Models: []serving.Model{{Name: "digits", BasePath: "/models/digits"}}})
//	if err != nil {
//		return err
//	}
//	defer s.Close()
//	g := grpc.NewServer(append(s.GRPCOptions(), grpc.Creds(serving.Credentials(nil)))...)
//	s.RegisterGRPC(g)
//	go g.Serve(listener)
//	return http.ListenAndServe(":8501", s.Handler())
//
// # Models and versions
//
// A model is a directory whose subdirectories have numbers for names: its versions.
// The server looks for them again and again, loads new ones and unloads those that
// have gone. A [VersionPolicy] chooses among them; the latest one is the default. A
// new version is loaded, and has answered its warm-up requests, before an old one
// gets no more requests; the old one is freed when it has answered those that it
// has. Thus no request fails because versions change. Versions may have labels.
//
// # Batching
//
// With [Config.Batching], requests that come at the same time run together. See
// [Batching].
//
// The program gorge model-server is this package with flags.
package serving
