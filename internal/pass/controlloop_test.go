package pass

import (
	"fmt"
	"runtime/debug"
	"strings"
	"testing"
)

// TestDeepLoops: loops on two devices may be within one another deeper than stacks are.
func TestDeepLoops(t *testing.T) {
	before := debug.SetMaxStack(4 << 20)
	defer debug.SetMaxStack(before)
	const depth = 20000
	var text strings.Builder
	text.WriteString("e0 = Placeholder[dtype=bool, shape=[]] @/device:CPU:0\n")
	for i := range depth {
		fmt.Fprintf(&text, "e%d = Enter[frame_name=\"f%d\", is_constant=true](e%d) @/device:CPU:0\n", i+1, i+1, i)
		fmt.Fprintf(&text, "l%d = LoopCond(e%d) @/device:CPU:0\n", i+1, i+1)
	}
	fmt.Fprintf(&text, "y = LogicalNot(e%d) @/device:CPU:1\n", depth)
	if got := partitions(parse(t, text.String())); strings.HasPrefix(got, "error") {
		t.Error(got)
	}
}
