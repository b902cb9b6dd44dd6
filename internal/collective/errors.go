package collective

import (
	"context"
	"errors"

	"github.com/gorge-tf/gorge/tf/core"
)

// An end is the cause of a context that this package ends. Its error is what the
// operations that wait in the context return.
type end struct{ err error }

func (e end) Error() string { return e.err.Error() }

// ended says why ctx has ended: the error of an end, or, if the step itself has ended,
// a derived error, which does not hide the one that explains it.
func ended(ctx context.Context, what string) error {
	cause := context.Cause(ctx)
	var own end
	if errors.As(cause, &own) {
		return own.err
	}
	return &core.Error{Code: core.Canceled, Msg: what, Err: cause, Derived: true}
}

// aborted is the form of an error for the other members of an operation that it has ended.
// It follows from that error.
func aborted(err error) error {
	e := core.AsError(err)
	return &core.Error{Code: e.Code, Msg: "Collective ops is aborted by: " + e.WireMessage() + "\nThe error could be from a previous operation.", Derived: true}
}

// own is aborted for the member that has failed itself: its error is not derived.
func own(err error) error {
	if e := core.AsError(err); e.Derived || e.Code == core.DeadlineExceeded {
		return err
	}
	e := *core.AsError(aborted(err))
	e.Derived = false
	return &e
}
