package memory

import "sync/atomic"

// much is the size of weights from which on memory counts more than a little time: what loading and
// planning leave behind is given back at once, and less is kept of what is computed of weights.
var much atomic.Int64

func init() { much.Store(64 << 20) }

// Much returns that size.
func Much() int { return int(much.Load()) }

// SetMuch sets that size and returns what it was: small models then take the way of large ones.
func SetMuch(bytes int) (before int) { return int(much.Swap(int64(bytes))) }
