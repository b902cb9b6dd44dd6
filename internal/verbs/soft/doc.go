// Package soft is an RDMA device made of TCP connections: a provider for
// package verbs that needs neither hardware nor kernel modules, within a
// process or between machines.
//
// It keeps the rules of reliable connections: order, registered memory, keys
// and bounds, receives that have to be posted before anything arrives,
// completions, and flushing when a queue pair fails. It adds one thing: a
// queue pair notices at once when its peer is gone.
//
// Like RDMA it trusts its network. Whoever can connect and guess a queue pair
// number and its packet number can write to the memory that is registered for
// that.
package soft
