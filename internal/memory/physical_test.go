package memory

import "testing"

func TestPhysical(t *testing.T) {
	if n := Physical(); n < 1<<20 || n > unknownPhysical {
		t.Errorf("the machine has %d bytes of memory", n)
	}
}
