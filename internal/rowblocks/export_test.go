package rowblocks

// Again returns how many runs began in blocks and were done on all rows then.
func Again() int64 { return again.Load() }

// SmallBlocks makes regions of all that keeps a byte from memory, and blocks of few rows,
// until restore is called.
func SmallBlocks(rows int) (restore func()) {
	least, bytes, fewest, m, c := leastSaved, blockBytes, fewestRows, multiple, cached
	leastSaved, blockBytes, fewestRows, multiple, cached = 1, 0, rows, 1, 1<<60
	return func() { leastSaved, blockBytes, fewestRows, multiple, cached = least, bytes, fewest, m, c }
}
