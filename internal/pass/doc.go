// Package pass holds the functions from graphs to graphs that stand between
// what a user built and what executors run: pruning to feeds and fetches,
// placement, optimization, partition. They do no I/O.
//
//	the session's graph
//	     │ Lower       functional control flow and calls become Switch, Merge, loops
//	     │ Placer      devices; nodes tied by references and resources stay together
//	     ▼
//	for each signature of feeds, fetches and targets
//	     │ ClientGraph a copy of what the fetches need, up to the feeds
//	     │ CheckCalls  no call without end
//	     │ OrderCollectives, if the session asks for it
//	     │ Partition   by task, in a master; a worker gets its part and goes on
//	     ▼
//	the graph of one task
//	     │ CheckCalls
//	     │ Optimize    in rounds, until nothing changes
//	     │ FetchLate   fetches of reference variables see the step's updates
//	     │ Partition   by device: an edge that crosses becomes a Send and a Recv
//	     ▼
//	the graph of one device
//	     │ ReadLate    reads of counters and in loops see updates before them
//	     │ recompute.Rewrite  gradients read copies of values that are not kept
//	     │ fuse.Fuse   elementwise nodes become one
//	     ▼
//	executor
//
// # What holds between passes
//
//   - A pass changes the graph that it is given, or says in its comment that it
//     returns another one. Nothing else knows that graph: sessions give copies.
//   - [Check] holds before and after each optimization: inputs exist and have the
//     types that are read, names are distinct, only loops have cycles. A pass that
//     breaks it is an Internal error that names the pass, not a wrong result.
//   - After the placer every node has a device (CheckPlaced). Passes that come later
//     give the nodes that they add one, and never move a node.
//   - An optimization leaves the values of fetches the same bit for bit, and the
//     effects. So x+0 stays for floating point numbers, and what fails at run time
//     fails still: an op may be left out only if it has no effects (hasEffects), is
//     not Awaited, and no node that directs flow depends on when it dies.
//   - Nodes are told by [core.Role] and [core.Traits] of their ops, by name only to
//     rewrite a particular op (docs/decisions/0003).
//   - What a pass visits counts against graph.Budget, so that planning a hostile graph
//     ends with an error.
//
// Shapes of loops' variables are found by induction (loopshape.go): each is assumed to be
// that of what enters until the body contradicts it.
//
// Optimizations run in the order of the table in optimize.go, which says for each
// which must come before it. They repeat, since each makes work for others: at most
// maxRounds times. After a pass that changed something, nodes that no root depends
// on are swept out. Each pass can be switched off by its name, also to find out
// which one is at fault.
package pass
