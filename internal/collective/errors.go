package collective

import (
	"context"
	"errors"

	"github.com/gorge-tf/gorge/tf/core"
)

// An end is the cause of a context that this package ends: what is to be told to
// those whom that ends.
type end struct{ err error }

func (e end) Error() string { return e.err.Error() }

// ended says why ctx has: what this package ended it for, or, if its step did,
// that something was cancelled, which explains nothing to anybody.
func ended(ctx context.Context, what string) error {
	cause := context.Cause(ctx)
	var own end
	if errors.As(cause, &own) {
		return own.err
	}
	return &core.Error{Code: core.Canceled, Msg: what, Err: cause, Derived: true}
}

// aborted is what others hear of an error that has ended what they do together.
// It follows from that error.
func aborted(err error) error {
	e := core.AsError(err)
	return &core.Error{Code: e.Code, Msg: "Collective ops is aborted by: " + e.WireMessage() + "\nThe error could be from a previous operation.", Derived: true}
}

// own is aborted for who has failed, whose error follows from no other.
func own(err error) error {
	if e := core.AsError(err); e.Derived || e.Code == core.DeadlineExceeded {
		return err
	}
	e := *core.AsError(aborted(err))
	e.Derived = false
	return &e
}
