package core

import "sync"

// A Ref is a variable of the reference kind (VariableV2): a cell whose tensor
// assignments replace. Its zero value is uninitialized.
type Ref struct {
	// Shape is what the first value must fit; nil: anything does.
	Shape Shape

	mu sync.Mutex
	t  *Tensor
}

// Load returns a tensor that shares the variable's memory, nil while it is
// uninitialized.
func (r *Ref) Load() *Tensor {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.t == nil {
		return nil
	}
	return r.t.Share()
}

// HeldMemory tells, for reports, what the variable holds.
func (r *Ref) HeldMemory() (kind string, bytes int) {
	if !r.mu.TryLock() {
		return "variables", 0
	}
	defer r.mu.Unlock()
	if r.t == nil {
		return "variables", 0
	}
	return "variables", r.t.HeldBytes()
}

// Initialized reports whether the variable has a value.
func (r *Ref) Initialized() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.t != nil
}

// Store makes t, whose reference the variable takes over, its value.
func (r *Ref) Store(t *Tensor) {
	r.mu.Lock()
	old := r.t
	r.t = t
	r.mu.Unlock()
	if old != nil {
		old.Release()
	}
}

// Update calls f with the variable's value, memory that nobody else refers to,
// for f to change in place; nil while the variable is uninitialized. A value
// that is being read elsewhere is copied first.
func (r *Ref) Update(f func(t *Tensor) error) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.t = SoleOwner(r.t)
	return f(r.t)
}

// Swap calls f with the value and stores what it returns, as one step.
func (r *Ref) Swap(f func(old *Tensor) (*Tensor, error)) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	t, err := f(r.t)
	if err != nil {
		return err
	}
	r.t = t
	return nil
}

// SoleOwner returns t if nobody else refers to its memory, else a copy in its
// place.
func SoleOwner(t *Tensor) *Tensor {
	if t == nil || (t.buf != nil && t.buf.Sole() && !t.buf.Escaped()) {
		return t
	}
	c := t.Clone()
	t.Release()
	return c
}
