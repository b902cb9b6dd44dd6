package kernel

import "unsafe"

const (
	// lineBytes is the size of a cache line.
	lineBytes = 64
	// maxLines is how many lines of a row are brought: more are found by the processor.
	maxLines = 8
	// farBytes is the size of a table whose rows are worth asking for: those of a smaller
	// one stay in the second-level cache.
	farBytes = 512 << 10
	// RowsAhead is how many rows before it is used a row should be asked for: so many that
	// memory has answered, so few that the first-level cache still has them.
	RowsAhead = 16
)

// Far reports whether loops that use rows of a table in any order should [Prefetch] them.
func Far[T any](table []T) bool { return len(table)*int(unsafe.Sizeof(*new(T))) >= farBytes }

// Prefetch brings a row that is needed soon into the first-level cache: a loop that uses
// rows anywhere in a large table would wait for each of them.
func Prefetch[T any](row []T) {
	if n := len(row) * int(unsafe.Sizeof(*new(T))); n > 0 {
		prefetch((*byte)(unsafe.Pointer(unsafe.SliceData(row))), min(maxLines, (n+lineBytes-1)/lineBytes))
	}
}
