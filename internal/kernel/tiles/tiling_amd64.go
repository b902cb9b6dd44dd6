//go:build !noasm

package tiles

import "github.com/gorge-tf/gorge/internal/kernel"

// Tiling cuts rows into tiles of nearly equal heights.
type Tiling struct{ Rows, Tiles int }

// Cut cuts rows into tiles of at most so many.
func Cut(rows, height int) Tiling { return Tiling{rows, kernel.CeilDiv(rows, height)} }

// Tile returns the first row and the height of tile i.
func (t Tiling) Tile(i int) (row, height int) {
	row = i * t.Rows / t.Tiles
	return row, (i+1)*t.Rows/t.Tiles - row
}

// EqualBlocks is the number of steps of k at a time for a product over k of
// them, at most about most.
func EqualBlocks(k, most int) int {
	blocks := kernel.CeilDiv(k, most)
	if blocks <= 1 {
		return k
	}
	return (kernel.CeilDiv(k, blocks) + 15) &^ 15
}
