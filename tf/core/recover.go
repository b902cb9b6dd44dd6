package core

import "runtime/debug"

// Recover, deferred, makes a panic the INTERNAL error *err, with the stack:
//
//	defer core.Recover(&err, "the shape function of MatMul")
//
// Whatever works on graphs, tensors and messages that came from elsewhere does
// so under it: a fault in one shape function, kernel or pass must not end the
// process, which serves others, too.
func Recover(err *error, what string) {
	if v := recover(); v != nil {
		*err = panicked(what, v)
	}
}

func panicked(what string, v any) error {
	return Errorf(Internal, "%s panicked: %v\n%s", what, v, debug.Stack())
}
