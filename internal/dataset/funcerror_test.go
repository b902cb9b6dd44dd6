package dataset

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/gorge-tf/gorge/tf/core"
)

// TestFuncError: the end of another dataset, which a function has read, is an
// error and not the end of the dataset that calls the function.
func TestFuncError(t *testing.T) {
	for _, inner := range []error{End, fmt.Errorf("reading: %w", End)} {
		err := FuncError(inner)
		if errors.Is(err, End) || core.CodeOf(err) != core.OutOfRange {
			t.Errorf("FuncError(%v) = %v of code %v, which is End: %v", inner, err, core.CodeOf(err), errors.Is(err, End))
		}
	}
	for _, other := range []error{nil, context.Canceled, core.Errorf(core.OutOfRange, "End of sequence")} {
		if err := FuncError(other); err != other {
			t.Errorf("FuncError(%v) = %v, want the error itself", other, err)
		}
	}
}
