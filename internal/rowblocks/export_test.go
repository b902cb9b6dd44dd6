package rowblocks

// Again returns how many runs began in blocks and were done on all rows then.
func Again() int64 { return again.Load() }

// SmallBlocks makes regions of all that keeps a byte from memory, and blocks of few rows,
// until restore is called.
func SmallBlocks(rows int) (restore func()) {
	least, bytes, fewest, m := leastSaved, blockBytes, fewestRows, multiple
	leastSaved, blockBytes, fewestRows, multiple = 1, 0, rows, 1
	return func() { leastSaved, blockBytes, fewestRows, multiple = least, bytes, fewest, m }
}
