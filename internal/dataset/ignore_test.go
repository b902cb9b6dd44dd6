package dataset

import (
	"context"
	"errors"
	"testing"

	"github.com/gorge-tf/gorge/tf/core"
)

// TestIgnoreErrorsEnds: what ends a call of IgnoreErrors is the end of its context, never
// an error of the input.
func TestIgnoreErrorsEnds(t *testing.T) {
	cause := errors.New("enough")
	ctx, stop := context.WithCancelCause(t.Context())
	bad := func(context.Context, []*core.Tensor) ([]*core.Tensor, error) {
		stop(cause)
		return nil, core.Errorf(core.InvalidArgument, "bad")
	}
	numbers, err := Range(0, 1<<40, 1, core.Int64)
	if err != nil {
		t.Fatal(err)
	}
	it, err := IgnoreErrors(Map(numbers, bad, numbers.Spec(), true)).Iterate()
	if err != nil {
		t.Fatal(err)
	}
	defer it.Close()
	if _, err := it.Next(ctx); !errors.Is(err, cause) {
		t.Errorf("got %v, want that of the context, %v", err, cause)
	}
}
