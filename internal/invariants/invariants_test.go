package invariants

import (
	"strings"
	"testing"
)

func TestAssertPassesWhenTrue(t *testing.T) {
	Assert(true, "unused %d", 1)
}

func TestAssertPanicsOnlyWhenEnabled(t *testing.T) {
	got := caught(func() { Assert(false, "count is %d", 7) })
	if !Enabled {
		if got != "" {
			t.Fatalf("assertions are off, but Assert panicked: %s", got)
		}
		return
	}
	if !strings.Contains(got, "count is 7") {
		t.Fatalf("panic message %q does not carry the formatted text", got)
	}
}

func TestRaceImpliesEnabled(t *testing.T) {
	if Race && !Enabled {
		t.Fatal("the race detector is on but assertions are off")
	}
}

func TestAssertDoesNotAllocate(t *testing.T) {
	n := testing.AllocsPerRun(100, func() { Assert(true, "constant text") })
	if n != 0 {
		t.Fatalf("Assert allocates %v times", n)
	}
}

// caught returns what f panicked with, "" when it returned.
func caught(f func()) (msg string) {
	defer func() {
		if r := recover(); r != nil {
			msg = r.(string)
		}
	}()
	f()
	return ""
}
