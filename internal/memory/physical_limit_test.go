package memory

import "testing"

func TestLimit(t *testing.T) {
	whole := Physical()
	undo := Limit(1000)
	if n := Physical(); n != 1000 {
		t.Errorf("a machine limited to 1000 bytes has %d", n)
	}
	undo()
	if n := Physical(); n != whole {
		t.Errorf("without the limit it has %d, want %d", n, whole)
	}
}
