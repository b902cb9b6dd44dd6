// Package soft is an RDMA device made of TCP connections: a provider for
// package verbs that needs neither hardware nor kernel modules, within a
// process or between machines.
//
// It keeps the rules of reliable connections: order, registered memory, keys
// and bounds, receives that have to be posted before anything arrives,
// completions, and flushing when a queue pair fails. It adds one thing: a
// queue pair notices at once when its peer is gone.
//
// A queue pair takes one connection, from the address that it has been told and of
// a peer that knows its number and the packet number that it has told. Under TLS
// both ends show certificates, too. Without it the network is trusted, as RDMA
// trusts it: a host that sends from the peer's address and guesses two numbers of
// 24 bits can write to the memory that is registered for the peer.
package soft
