package resource

import "fmt"

// Kind classifies an [Error] by the canonical code that it maps to.
type Kind int

// The kinds of errors that a Manager returns.
const (
	NotFound        Kind = iota + 1 // no such container or resource
	AlreadyExists                   // the name is taken
	InvalidArgument                 // a handle of another type
)

// String is the canonical code's name.
func (k Kind) String() string {
	switch k {
	case NotFound:
		return "NOT_FOUND"
	case AlreadyExists:
		return "ALREADY_EXISTS"
	case InvalidArgument:
		return "INVALID_ARGUMENT"
	}
	return fmt.Sprintf("Kind(%d)", int(k))
}

// Error is what every function of this package returns as its error, except
// that errors of constructors pass through as they are.
type Error struct {
	Kind Kind
	Msg  string
}

// Error returns the message alone: the code belongs to the error that wraps it.
func (e *Error) Error() string { return e.Msg }

func errorf(k Kind, format string, args ...any) error {
	return &Error{Kind: k, Msg: fmt.Sprintf(format, args...)}
}
