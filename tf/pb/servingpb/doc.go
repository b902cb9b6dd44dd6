// Package servingpb holds the protocol buffers of TensorFlow Serving: the calls
// of its two services, its configuration files and its request logs. Names and
// numbers are TensorFlow Serving's; like those of package pb, the files are
// registered under gorge/, so that a program may link TensorFlow Serving's own
// stubs, too.
package servingpb

//go:generate go -C ../../../tools/protogen run . -dir ../../tf/pb/servingpb -prefix gorge/serving -import gorge=../../tf/pb -methods ../../internal/method
