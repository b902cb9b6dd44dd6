// Package rpc carries TensorFlow's MasterService, WorkerService, EagerService and
// VerbsService over gRPC and links: service descriptions over Go interfaces, typed
// clients, a codec that moves tensors without copying them through protocol buffers,
// errors with their codes and payloads, and the rendezvous transport made of
// RecvTensor.
//
// The services are declared in the .proto files of tf/pb. The code for each service S is
// generated from them, in zz_*.go: SServer, which servers implement, RegisterS, SClient
// and UnimplementedS. By hand are the answers with a form of their own on the wire
// ([TensorResponse], [BufferResponse]), their clients' methods, and calls that do not
// wait. Interceptors and links ask [method.Of] what else they have to know of a method.
package rpc
