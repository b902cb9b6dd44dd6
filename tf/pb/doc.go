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
// The two gRPC services are not described here: their paths do not follow the
// package of their files, so internal/rpc writes their method tables by hand.
package pb

//go:generate go -C ../../../tools/protogen run . -dir ../../tf/pb
