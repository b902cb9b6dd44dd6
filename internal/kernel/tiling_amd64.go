//go:build !noasm

package kernel

// tiling cuts rows into tiles of nearly equal heights.
type tiling struct{ rows, tiles int }

// tilingOf cuts rows into tiles of at most so many.
func tilingOf(rows, height int) tiling { return tiling{rows, ceilDiv(rows, height)} }

// tile returns the first row and the height of tile i.
func (t tiling) tile(i int) (row, height int) {
	row = i * t.rows / t.tiles
	return row, (i+1)*t.rows/t.tiles - row
}

// equalBlocks is the number of steps of k at a time for a product over k of
// them, at most about most.
func equalBlocks(k, most int) int {
	blocks := ceilDiv(k, most)
	if blocks <= 1 {
		return k
	}
	return (ceilDiv(k, blocks) + 15) &^ 15
}
