// Package ibv is the provider of RDMA devices that the kernel has drivers for,
// through libibverbs.
//
// It is built with the tag rdma and cgo; without them [Open] and [List] fail
// with an error that says so, and nothing of libibverbs is linked. What does not
// touch the library is always built: how a device, a port and a GID are chosen,
// and the settings by which TensorFlow's servers choose them.
//
// Handles of libibverbs are used under a lock that also guards their end, so
// that no goroutine has one that has been destroyed. Locks are taken in the
// order completion queue, queue pair; the device's is taken last and alone. Goroutines wait for completions
// and events in Go's network poller and occupy no thread.
package ibv
