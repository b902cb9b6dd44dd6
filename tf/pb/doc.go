// Package pb holds TensorFlow's protocol buffers: graphs, tensors, session
// configuration, the master, worker and verbs protocols, checkpoints,
// SavedModels and event files.
//
// Names and numbers of messages, fields and enum values are TensorFlow's, so
// the binary form, the text form and the JSON form agree with TensorFlow's. The
// protobuf package is gorge instead of tensorflow, and the files are registered
// under gorge/, because Go's protobuf runtime panics at start when two packages
// of one program register the same full name; a program that links TensorFlow
// Serving's stubs can so link Gorge too. Full names reach the wire only inside
// google.protobuf.Any: use PackAny and UnpackAny, which translate them.
//
// The files declare the services, too. Their stubs, under TensorFlow's paths, are in
// internal/rpc, and what else is declared of each method is in internal/method.
package pb

//go:generate go -C ../../tools/protogen run . -dir ../../tf/pb -methods ../../internal/method -stubs ../../internal/rpc
