// Package executor runs one partition of a graph on one device: each node once
// all its inputs are there, dead inputs making dead outputs, loops iteration
// by iteration, until nothing is left to do or an error ends it.
//
// An [Executor] is prepared once per graph and does not change: a slot for each
// output, how many inputs each node waits for, which nodes its outputs reach. A run
// is one execution. Its memory comes from a free list, so that in a steady state a
// run allocates only what leaves it.
//
//	New: graph ─▶ layouts (slots by frame), items (nodes), loop plans
//
//	Start ─▶ begin: nodes without inputs ─▶ ready ◀──────────────┐
//	                                         │ pop               │ last input: push
//	                                         ▼                   │
//	             dead or error? ◀──────── dispatch               │
//	                  │ leave                │ compute           │
//	                  │           ┌──────────┼───────────┐       │
//	                  │        sync       async        heavy     │
//	                  │        kernel     kernel       kernel    │
//	                  │           │          └─ note ─ ─ ┘       │
//	                  │           │               │ readNotes    │
//	                  │           ▼               ▼              │
//	                  └───────▶ finish ─▶ propagate: arrive ─────┘
//
// # Three ways to run
//
//   - In a fixed order (runInOrder): if no kernel waits and no value can be dead
//     nothing has to be counted. Run does that on the caller's goroutine.
//   - By a loop's plan (loopPlan): the same within one loop, whose body is skipped
//     only in the end. A planned loop is one entry among the ready nodes, and
//     makes way for others after each iteration (yieldToReady). Kernels that may
//     take long are in a plan only while all of them are known to be short (light).
//   - As they get ready, for all else.
//
// # Who owns a run
//
// At most one goroutine runs nodes and does the bookkeeping: counts, slots and
// lists of ready nodes need no locks. It is called the owner. run.running says
// whether there is one; run.mu guards that, the notes and iteration.busy.
//
//	running                      owner: work, runReady, dispatch
//	   │  ▲
//	   │  │ add: the first note of a kernel that has called back; its goroutine,
//	   │  │ or the one that Hooks.Resume finds, is the owner then
//	   ▼  │
//	not running, inflight > 0    nothing is ready, kernels will call back
//
//	running ─▶ over              nothing ready, inflight is 0, no late nodes: end
//
// Invariants:
//
//   - A kernel that waits, or runs on another goroutine, changes nothing of the
//     run. It leaves a note, which the owner reads. iteration.busy makes the first
//     note of a node count and others not, so that a kernel that calls back twice
//     while it computes does no harm. After the run its memory serves another, and a
//     call would count for that: kernels must not keep the callback.
//   - inflight is the number of kernels that will leave a note or have left one
//     that is not read yet. While it is not 0 the run's memory is not given back.
//   - The owner gives up running under mu, with no note left (stop, yield). The next
//     owner takes it under mu (add). So all that the one has written happens before
//     what the other reads.
//   - run.err is set once, by the owner. No kernel begins after that; those under
//     way are waited for. Hooks.Fail is called then, Hooks.Done when all has ended.
//   - outstanding counts the nodes of an iteration that are ready or under way. An
//     iteration ends, oldest first, when it is 0 and loops that were entered from
//     there have ended.
//
// run.mu and Executor.mu are leaves of the lock order: nothing is called with them
// held, kernels and hooks least of all. Why not a lock for each node, or atomic
// counts, as in TensorFlow's executor: most kernels of a training step are shorter
// than it takes to wake another thread. Those that are not (heavy.go) run on
// goroutines of their own, and only the note they leave is synchronized.
//
// # Values
//
// A slot holds a tensor or a reference to a variable; both are nil if it is dead
// or empty. readers counts the nodes that have still to read a slot; the last one
// may write to the tensor's memory (OpContext.Last), and the slot is dropped after
// it. A kernel's panic is the error of its node.
//
// A value's header lies with its slot. In a planned loop small memory stays with the
// header from one iteration to the next (retire), and goes back to the pool with the
// iteration (sweep).
package executor
