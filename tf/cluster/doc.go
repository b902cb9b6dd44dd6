// Package cluster makes a process a task of a cluster, and connects sessions to
// clusters.
//
// A [Server] is master and worker at once, as TensorFlow's is: clients open
// sessions on it, and other servers use its devices. Servers of TensorFlow and
// of this package make one cluster, and serve clients of both. Programs of
// TensorFlow 2 that connect to one (tf.config.experimental_connect_to_cluster) run
// operations and functions there.
//
// Between Gorge's own processes, calls go by links at the port of gRPC: with less
// on their way, and without copies of tensors. Clients and tasks learn of them
// from the answers to their first calls; see [Config].NoLinks.
//
// Importing the package makes session targets of the form grpc://host:port work, as
// package [github.com/gorge-tf/gorge/tf/cluster/client] does for programs that serve
// nothing.
package cluster
