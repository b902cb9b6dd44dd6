package eager

import (
	"fmt"
	"log/slog"
)

// When a function is traced too often, by TensorFlow's measure.
const (
	recentCalls    = 10 // that count
	frequentTraces = 5  // of them that are too many
	mostWarnings   = 2  // of one function
)

// A frequency counts the recent calls of a function and warns when too many of them were traced.
type frequency struct {
	spans    []int // calls from each trace until the next
	calls    int   // their sum
	warnings int
}

// kept counts a call that was not traced.
func (f *frequency) kept() {
	if len(f.spans) == 0 {
		f.spans = []int{0}
	}
	f.spans[len(f.spans)-1]++
	f.calls++
}

// traced counts a call that was.
func (f *frequency) traced(name string) {
	f.calls++
	f.spans = append(f.spans, 1)
	for len(f.spans) > 0 && f.calls-f.spans[0] > recentCalls {
		f.calls -= f.spans[0]
		f.spans = f.spans[1:]
	}
	if f.warnings == mostWarnings || len(f.spans) < frequentTraces {
		return
	}
	f.warnings++
	slog.Warn(fmt.Sprintf("%d out of the last %d calls to %s triggered retracing. Tracing is expensive and the excessive number of tracings could be due to "+
		"(1) passing tensors with different shapes, (2) passing Go values instead of tensors. For (1), FuncOptions has Signature, and ReduceRetracing "+
		"that can avoid unnecessary retracing. For (2), pass what differs from call to call as a tensor.", len(f.spans), f.calls, name))
}
