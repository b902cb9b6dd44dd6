package rpc

// A WorkerCache reaches the tasks of a cluster. What it returns for a task is made
// when it is first wanted and used by all from then on. It is safe for concurrent
// use.
type WorkerCache interface {
	// Worker returns the worker of a task, which need not be up.
	Worker(task string) (*WorkerClient, error)
	// Close ends what connects with the tasks, and the calls to them.
	Close() error
}

var _ WorkerCache = (*Channels)(nil)
