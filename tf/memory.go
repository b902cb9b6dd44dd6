package tf

import "github.com/gorge-tf/gorge/tf/core"

// SetMemoryLimit bounds the memory of the process: what tensors take and all
// else on Go's heap. An operation that would exceed it fails with
// RESOURCE_EXHAUSTED; the error names the node, what it asked for, and who holds
// how much. It returns the limit before. The default, which 0 stands for, is nine
// tenths of what the machine, the control groups of the process and its resource
// limits allow.
func SetMemoryLimit(bytes int64) (before int64) { return core.SetMemoryLimit(bytes) }

// MemoryUsage returns what the process uses now, garbage included that has not
// been collected, and its limit.
func MemoryUsage() (inUse, limit int64) { return core.MemoryUsage() }

// SetMemoryShares bounds what one session and what one step may hold of the
// memory limit in tensors of 64 KB and more: parts in 0 to 1, of which 0 stands
// for all of it, the default. It returns what they were.
func SetMemoryShares(session, step float64) (beforeSession, beforeStep float64) {
	return core.SetMemoryShares(session, step)
}
