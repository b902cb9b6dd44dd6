package core

// A loop of a few nodes may put lists within lists a million deep, or the same list twice
// into the next one, and that again, so that a walk through them overflows the stack or does
// not end. These are the bounds of such walks: more than anything useful has.
const (
	maxNested = 1000
	maxWalked = 1 << 20
)

// nesting is how deep a walk through variants within variants is, and how many it has met.
type nesting struct{ depth, met int }

// within goes through what a variant holds.
func (w *nesting) within(walk func() error) error {
	w.depth++
	w.met++
	switch {
	case w.depth > maxNested:
		return Errorf(InvalidArgument, "variants must not be nested more than %d deep", maxNested)
	case w.met > maxWalked:
		return Errorf(ResourceExhausted, "a variant must not hold more than %d others, counted as often as they are held", maxWalked)
	}
	defer func() { w.depth-- }()
	return walk()
}

// CheckNesting returns an error if elements of t, variants, are nested so deep, or hold so many
// others, that kernels cannot go through them one within another: INVALID_ARGUMENT beyond
// 1000 levels, RESOURCE_EXHAUSTED beyond 1,048,576 variants.
func CheckNesting(t *Tensor) error { return new(nesting).check(t) }

func (w *nesting) check(t *Tensor) error {
	for _, v := range t.Variants() {
		e, ok := v.Value.(VariantEncoder)
		if !ok {
			continue
		}
		data, err := e.EncodeVariant()
		if err != nil {
			continue // it is not gone through either
		}
		if err := w.checkAll(data.Tensors); err != nil {
			return err
		}
	}
	return nil
}

func (w *nesting) checkAll(all []*Tensor) error {
	return w.within(func() error {
		for _, t := range all {
			if err := w.check(t); err != nil {
				return err
			}
		}
		return nil
	})
}
