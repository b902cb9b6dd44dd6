// Package eagerservice runs operations one by one for clients in other
// processes, as TensorFlow 2's programs send them: the results stay here, under
// the numbers that the clients give them.
//
// The methods of [Service] are those of TensorFlow's EagerService, in plain Go. A
// client has a context (context.go), a worker session of its own. What it sends
// are entries of a queue (queue.go), which are served in turn: operations
// (operation.go) by their kernels (kernel.go), whose results a table keeps
// (handles.go), and calls of functions (function.go), parts of which may run in
// other tasks (component.go).
//
//	client ─ Enqueue, or a Stream's Enqueue ─▶ Context.serve: entry by entry, in turn
//	            │                                  │
//	  operation │                                  ├─ sendTensor, sendPackedHandle ─▶ handles
//	            ▼                                  ├─ HandleToDecref: handles.drop
//	  resolve inputs: handles, or remote ones      └─ functions: library
//	            │
//	            ├─ an op: its kernel, made once for each way it is called
//	            ├─ a function here: step.Calls of its device
//	            └─ a function in several tasks: components there (Peers)
//	            │
//	            ▼
//	  results ─▶ handles, under (operation, output); a failure: handles.fail
//
// What holds:
//
//   - The entries of one request run one after the other; the first error ends the
//     request, and what came before has been done. Requests of one client run at once,
//     so a client that sends without waiting uses a stream, which is for one goroutine
//     at a time.
//   - An error of an operation without outputs fails all later operations of its
//     stream (Stream.failed), as it poisons TensorFlow's executor. The error
//     of a failed operation is also kept under its number (handles.fail, the last
//     keptFailures of them), so that what uses its outputs gets it.
//   - The first value under a name stays, as in TensorFlow.
//   - A request keeps its context's session open (Session.Begin), and ends with it.
//     A context ends when the client closes it, is silent for longer than keepAlive,
//     or the service closes.
//
// # Goroutines and locks
//
// A request runs on the goroutine that serves it, kernels included. There are three
// others: the parts of a function in other tasks (runSpread, which waits for them), the
// notes to other tasks that a step is over (endSpread; they hold the session open, so
// that its end waits for them), and the timer of a context with keepAlive.
//
// Each lock guards the table or the fields that it stands above: Service.mu the
// contexts, Context.mu view, library, calls and cluster, the others one table each.
// Service.mu is taken before Context.mu, that before spreads.mu; the other tables' locks
// are leaves. No lock is held while an operation runs or another task is called; what is
// made once for a function in several tasks (spread.once) may call them.
package eagerservice
