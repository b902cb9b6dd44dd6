package direct

import "testing"

// TestSpareForVariables: large models keep to a small part of their variables, and what
// more variables leave never jumps.
func TestSpareForVariables(t *testing.T) {
	const mib = 1 << 20
	for size, want := range map[int]int{0: 32 * mib, 30 * mib: 22 * mib, 60 * mib: 12 * mib, 96 * mib: 3 * mib / 4, 1600 * mib: 25 * mib / 2} {
		if got := spareFor(size); got != want {
			t.Errorf("%d bytes of variables leave %d, want %d", size, got, want)
		}
	}
	for size := 0; size < 1<<30; size += mib {
		if got := spareFor(size); size >= 64*mib && got > size/4 || got-spareFor(size+mib) > mib/lossRate+1 {
			t.Fatalf("%d bytes of variables leave %d, %d after one MiB more", size, got, spareFor(size+mib))
		}
	}
}
