package tf

import "slices"

// gradientForm says how a function returns a gradient.
type gradientForm uint8

const (
	absentForm   gradientForm = iota // not at all
	denseForm                        // as one result
	slicesForm                       // as three: values, indices and shape
	slicesForm64                     // so, with indices and shape as int64, as other functions do
)

// form is how g is returned by a function that need not do it as others do.
func (g Gradient) form() gradientForm {
	switch {
	case g.IsZero():
		return absentForm
	case g.sparse == nil:
		return denseForm
	}
	return slicesForm
}

// results are what stands for g, a gradient of x, in form f.
func (f gradientForm) results(g Gradient, x Output) []Output {
	if f != absentForm && g.IsZero() {
		g = Dense(zerosLike(x))
	}
	switch f {
	case absentForm:
		return nil
	case denseForm:
		return []Output{g.Output()}
	}
	s := g.asSlices()
	if f == slicesForm64 {
		s.Indices, s.DenseShape = castTo(s.Indices, Int64), castTo(s.DenseShape, Int64)
	}
	return []Output{s.Values, s.Indices, s.DenseShape}
}

// take returns the gradient that the first of out stand for, and the rest.
func (f gradientForm) take(out []Output) (Gradient, []Output) {
	switch f {
	case absentForm:
		return Gradient{}, out
	case denseForm:
		return Dense(out[0]), out[1:]
	}
	return Sparse(IndexedSlices{Values: out[0], Indices: out[1], DenseShape: out[2]}), out[3:]
}

func castTo(x Output, d DType) Output {
	if x.DType().Base() == d {
		return x
	}
	return applyOne("Cast", x, Attr("DstT", d))
}

// anyGradient reports whether forms are not all of gradients that are absent.
func anyGradient(forms []gradientForm) bool {
	return slices.ContainsFunc(forms, func(f gradientForm) bool { return f != absentForm })
}
