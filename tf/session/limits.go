package session

import "time"

// Limits bound what graphs may take before and while they run, so that one that
// never ends, or grows without end, fails instead of using up the machine. A field
// that is 0 means the default, a negative one no limit.
type Limits struct {
	// Nodes that a graph may have, what its functions expand to included; and that
	// a call of a function runs at least. Default: 10,000,000.
	Nodes int
	// FunctionDepth bounds calls of functions within one another. Default: 5,000.
	FunctionDepth int
	// FunctionCalls bounds the calls of functions that a step has under way at
	// once. Default: 100,000.
	FunctionCalls int
	// PlanTime bounds the preparation of a graph for one set of feeds and fetches.
	// Default: ten minutes.
	PlanTime time.Duration
}
