package train_test

import (
	"math"
	"testing"

	"github.com/gorge-tf/gorge/tf/train"
)

// TestTimerOfLargeIntervals: the largest number of steps never comes after the first.
func TestTimerOfLargeIntervals(t *testing.T) {
	timer := train.SecondOrStepTimer{EverySteps: math.MaxInt64}
	if !timer.ShouldTrigger(0) {
		t.Error("the first step must trigger")
	}
	timer.Update(5)
	for _, step := range []int64{6, 1 << 40, math.MaxInt64} {
		if timer.ShouldTrigger(step) {
			t.Errorf("step %d must not trigger", step)
		}
	}
}
