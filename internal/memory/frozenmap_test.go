//go:build unix

package memory

import "testing"

// TestTextOfMapped: bytes that a program has mapped are not Go's, and are asked about all
// the same.
func TestTextOfMapped(t *testing.T) {
	b, err := mapMemory(largeText)
	if err != nil {
		t.Fatal(err)
	}
	copy(b, "gorge")
	if s := Text(b); s != string(b) || Frozen(b) {
		t.Error("mapped bytes are another string, or frozen")
	}
	if err := unmapMemory(b); err != nil {
		t.Error(err)
	}
}
