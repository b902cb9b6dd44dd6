// Package rpc carries TensorFlow's MasterService and WorkerService over gRPC:
// service descriptions over Go interfaces, typed clients, a codec that moves
// tensors without copying them through protocol buffers, errors with their
// codes and payloads, and the rendezvous transport made of RecvTensor.
package rpc
