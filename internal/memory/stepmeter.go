package memory

import (
	"context"
	"sync/atomic"
)

// A StepMeter learns how much memory a step takes: the one that runs with the context which
// has the meter. Of several steps it keeps the largest.
type StepMeter struct{ most atomic.Int64 }

type stepMeterKey struct{}

// WithStepMeter returns ctx with a meter.
func WithStepMeter(ctx context.Context, m *StepMeter) context.Context {
	return context.WithValue(ctx, stepMeterKey{}, m)
}

// Metered tells the meter of ctx, if it has one, that a step has held so many bytes at
// once, in blocks that are counted one by one.
func Metered(ctx context.Context, peak int64) {
	if m, ok := ctx.Value(stepMeterKey{}).(*StepMeter); ok {
		raise(&m.most, peak)
	}
}

// Most returns the largest number of bytes that the meter has been told of.
func (m *StepMeter) Most() int64 { return m.most.Load() }

// Free returns how many bytes a step may take that begins now: what is left of the limit,
// with the idle memory of pools, and at most what one step may hold.
func Free() int64 {
	free := process.most() - process.inUse()
	for _, p := range pools() {
		free += p.Stats().IdleBytes
	}
	return max(0, min(free, process.share(stepShare)))
}
