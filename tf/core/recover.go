package core

import "runtime/debug"

// Recover, deferred, makes a panic the error *err, as [Panicked] says:
//
//	defer core.Recover(&err, "the shape function of MatMul")
//
// Whatever works on graphs, tensors and messages that came from elsewhere does
// so under it: a fault in one shape function, kernel or pass must not end the
// process, which serves others, too.
func Recover(err *error, what string) {
	if v := recover(); v != nil {
		*err = Panicked(what, v)
	}
}

// Panicked returns the error for a panic that has been recovered. Memory that
// is not to be had, with which [NewTensor] and [Make] panic, is
// RESOURCE_EXHAUSTED; anything else is a fault, INTERNAL, and tells the stack.
//
// Kernels therefore need no errors where they allocate. They must not hold
// locks then that they do not unlock by defer, and a goroutine of their own
// needs Recover.
func Panicked(what string, v any) error {
	if err, ok := v.(error); ok && Exhausted(err) {
		return AsError(err)
	}
	return Errorf(Internal, "%s panicked: %v\n%s", what, v, debug.Stack())
}

// Guard calls f and returns its error, or what a panic of it becomes.
func Guard(what string, f func() error) (err error) {
	defer Recover(&err, what)
	return f()
}

// Apart calls f, which is what is left of the kernel, on a goroutine of its own,
// and gives done its error or what a panic becomes.
func (c *OpContext) Apart(f func() error, done func(error)) {
	go func() { done(Guard("the kernel of "+c.Node.OpName(), f)) }()
}
