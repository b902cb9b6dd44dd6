package dataset

import "context"

// taking is over for iterators that call a function with what they take: an element whose
// call was cancelled is taken again. Functions leave their arguments as they are.
type taking struct {
	over
	kept []Element // one at most
}

// take returns the input's next element. used must follow.
func (t *taking) take(ctx context.Context) (Element, error) {
	if len(t.kept) > 0 {
		return t.kept[0], nil
	}
	return t.input.Next(ctx)
}

// used tells what came of the element that take has returned.
func (t *taking) used(ctx context.Context, e Element, err error) {
	t.kept = nil
	if interrupted(ctx, err) {
		t.kept = []Element{e}
	}
}

// Save saves the input and what was taken from it.
func (t *taking) Save(s *State) {
	t.over.Save(s)
	s.putTaken(t.kept)
}

// restore restores both. spec is that of the input.
func (t *taking) restore(ctx context.Context, s *State, spec *Spec) {
	t.over.Restore(ctx, s)
	if t.kept = s.taken(spec); len(t.kept) > 1 {
		s.Fail(errTooMany)
		t.kept = nil
	}
}
