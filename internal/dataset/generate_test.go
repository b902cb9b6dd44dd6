package dataset

import (
	"context"
	"fmt"
	"testing"

	"github.com/gorge-tf/gorge/tf/core"
)

// TestGeneratorPastItsErrors: an iterator that went on behind an error is brought there.
func TestGeneratorPastItsErrors(t *testing.T) {
	d := Generate(scalars, func() (Func, func()) {
		n := int64(0)
		return func(context.Context, []*core.Tensor) ([]*core.Tensor, error) {
			switch n++; n {
			case 2:
				return nil, core.Errorf(core.InvalidArgument, "the second")
			case 3:
				return []*core.Tensor{core.Scalar("of another type")}, nil
			case 6:
				return nil, End
			}
			return []*core.Tensor{core.Scalar(n)}, nil
		}, nil
	})
	want := []string{"[1]", "!INVALID_ARGUMENT", "!INVALID_ARGUMENT", "[4]", "[5]"}
	for n := range len(want) {
		if got := fmt.Sprint(restoredRest(t, d, n)); got != fmt.Sprint(want[n:]) {
			t.Errorf("after %d: got %s, want %v", n, got, want[n:])
		}
	}
}
