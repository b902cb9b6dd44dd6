package descent

// lineBytes is the size of a cache line.
const lineBytes = 64

// maxLines is how many lines of a row are brought: more are found by the processor.
const maxLines = 8

// Prefetch brings memory that is needed soon into the cache: the loads of an update of
// a row that is anywhere in a large table would wait for it.
func Prefetch(row []byte) {
	if simd.prefetch != nil && len(row) > 0 {
		simd.prefetch(&row[0], min(maxLines, (len(row)+lineBytes-1)/lineBytes))
	}
}
