package threads_test

import (
	"bytes"
	"fmt"
	"slices"
	"testing"

	"github.com/gorge-tf/gorge/internal/threads"
)

// BenchmarkCopy measures what bounds loops that compute little: copies of memory by one
// thread, and by two that have one half each. 4 MB lie in the cache that processors share,
// 64 MB beyond it. BENCHMARKS.md has what follows from it for whole models.
func BenchmarkCopy(b *testing.B) {
	for _, mega := range []int{1, 4, 16, 64} {
		for _, n := range []int{1, 2} {
			b.Run(fmt.Sprintf("%dMB/threads=%d", mega, n), func(b *testing.B) {
				p := threads.Acquire(n)
				defer p.Release()
				src := bytes.Repeat([]byte{1}, mega<<20)
				dst := slices.Clone(src)
				b.SetBytes(int64(len(src)))
				for b.Loop() {
					p.ParallelFor(len(src), len(src)/2, func(lo, hi int) { copy(dst[lo:hi], src[lo:hi]) })
				}
			})
		}
	}
}
