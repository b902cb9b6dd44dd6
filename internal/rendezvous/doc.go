// Package rendezvous passes tensors between the devices of a step: the sender
// names the edge by a key and goes on, the receiver asks for the key before or
// after.
//
// A [Local] is the table of one step in one process. A [Remote] adds the other
// tasks of a cluster: what they send is fetched through a [Transport]. A
// [Manager] finds the Remote of a step by its number.
package rendezvous
