package tf

// CustomGradient returns what f computes from xs. Its gradient is not that of
// the operations that f adds: grad, which f returns too, computes the gradients
// of xs from those of ys: one for each x, of its type and shape, the zero Output for
// none. Variables that f reads get no gradient: a value that is to have one must be
// among xs. A graph that is written names the gradient, by attribute _gradient_op_type,
// but does not have it: who reads the graph has no gradients through the ys but those that
// a GradientOverrideMap gives.
func CustomGradient(xs []Output, f func(xs []Output) (ys []Output, grad func(dys []Output) []Output)) []Output {
	g, bad := graphOf(nil, xs)
	if bad == nil && f == nil {
		bad = &inputError{err: Errorf(InvalidArgument, "a custom gradient needs the function that it is of, got nil")}
	}
	if bad != nil {
		return failed(g, "CustomGradient", bad.err)
	}
	in := make([]Output, len(xs))
	for i, x := range xs {
		in[i] = identity(x)
	}
	ys, grad := f(in)
	if grad == nil {
		return failed(g, "CustomGradient", Errorf(InvalidArgument, "a custom gradient needs the function that computes it, got nil"), len(ys))
	}
	own := gradientOption(func(op *Operation, dy []Output) []Gradient { return customGradients(op, len(ys), dy, grad) })
	op := Apply(g, "IdentityN", append(append([]Output{}, ys...), in...), own)
	if op.err != nil {
		return failed(g, "CustomGradient", op.err, len(ys))
	}
	return op.Outputs()[:len(ys)]
}

// gradientOption makes f the gradient of an operation.
func gradientOption(f GradFunc) Option { return optionFunc(func(s *Spec) { s.grad = f }) }

// customGradients calls grad with gradients of all n results: zeros of those
// that nothing depends on.
func customGradients(op *Operation, n int, dy []Output, grad func([]Output) []Output) []Gradient {
	dys := make([]Output, n)
	for i := range dys {
		if dys[i] = dy[i]; dys[i].IsZero() {
			dys[i] = zerosLike(op.Output(i))
		}
	}
	dxs := grad(dys)
	if want := len(op.in) - n; len(dxs) != want {
		err := Errorf(InvalidArgument, "custom_gradient function expected to return %d gradients, but returned %d instead.", want, len(dxs))
		return failedGradients(op, err)
	}
	return append(make([]Gradient, n), Grads(dxs...)...)
}
