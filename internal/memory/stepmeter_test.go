package memory

import (
	"context"
	"testing"
)

// TestStepMeter: a meter keeps the most that a step has held at once, of several steps the
// largest; what a step gives back does not count with what it takes later.
func TestStepMeter(t *testing.T) {
	p := NewSessionPool(1<<30, "metered")
	var m StepMeter
	ctx := WithStepMeter(context.Background(), &m)
	hold := func(step int64, sizes ...int) {
		for _, n := range sizes {
			b, err := p.GetFor(step, n)
			if err != nil {
				t.Fatal(err)
			}
			defer b.Unref()
		}
	}
	hold(1, large, 4*large)
	hold(1, 2*large)
	hold(2, large)
	for _, step := range []int64{1, 2, 3} {
		Metered(ctx, p.EndStep(step))
	}
	Metered(context.Background(), 1<<40) // has no meter
	if got := m.Most(); got < 5*large || got >= 7*large {
		t.Errorf("the meter says %d bytes, want %d", got, 5*large)
	}
}
