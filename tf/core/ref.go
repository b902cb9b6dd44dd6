package core

import "sync"

// AnonymousName is the shared name of nodes each run of which makes a variable of its
// own, which goes with its last handle.
const AnonymousName = "cd2c89b7-88b7-44c8-ad83-06c2a9158347"

// A Ref is a variable of the reference kind (VariableV2): a cell whose tensor
// assignments replace. Its zero value is uninitialized.
type Ref struct {
	// Shape is what the first value must fit; nil: anything does.
	Shape Shape
	// Home counts the writes to the variable; nil: nothing does.
	Home *Resources

	mu    sync.Mutex
	gone  bool // nothing finds the variable any more
	t     *Tensor
	spare int64 // bytes that a pool keeps for the next value beside a snapshot
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

// LoadAs makes output o of c what [Ref.Load] returns, if the variable's value is of type d, and
// returns the type that it has, Invalid while it is uninitialized. It takes the header that c has for
// the output: a step reads many variables.
func (r *Ref) LoadAs(c *OpContext, o int, d DType) (has DType) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.t == nil {
		return Invalid
	}
	if r.t.dtype == d {
		c.ShareShape(o, r.t, r.t.shape)
	}
	return r.t.dtype
}

// Cell returns r: kernels' own types of variables embed it.
func (r *Ref) Cell() *Ref { return r }

// Holds reports whether the variable is there and its value is what [Ref.Load] has
// returned as t. As long as t is not released, no write leaves its memory in place.
func (r *Ref) Holds(t *Tensor) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return !r.gone && r.t != nil && r.t.buf != nil && r.t.buf == t.buf && r.t.dtype == t.dtype && r.t.shape.Equal(t.shape)
}

// Close notes that nothing finds the variable any more.
func (r *Ref) Close() {
	r.mu.Lock()
	defer r.written()
	r.gone = true
}

// written unlocks r after a write and counts it: whoever is told that the write has
// ended sees the count.
func (r *Ref) written() {
	if r.Home != nil {
		r.Home.Wrote()
	}
	r.mu.Unlock()
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
	r.written()
	if old != nil {
		old.Release()
	}
}

// Update calls f with the variable's value, memory without other references,
// for f to change in place; nil while the variable is uninitialized. A value
// that is being read elsewhere is copied first.
func (r *Ref) Update(f func(t *Tensor) error) error {
	r.mu.Lock()
	defer r.written()
	r.t = SoleOwner(r.t)
	return f(r.t)
}

// Change calls f to change the variable's value piece by piece, as f's Change says. If f
// fails, a value that is being read elsewhere stays as it is. The kernel of c runs f.
func (r *Ref) Change(c *OpContext, f func(*Change) error) error {
	r.mu.Lock()
	defer r.written()
	if r.t == nil || r.t.buf == nil || sole(r.t) {
		r.t = SoleOwner(r.t)
		return f(&Change{T: r.t})
	}
	fresh, err := r.fresh(c)
	if err != nil {
		return err
	}
	if err := f(&Change{T: fresh, from: r.t}); err != nil {
		fresh.Release()
		return err
	}
	r.t.Release()
	r.t = fresh
	return nil
}

// fresh returns memory for another value of r, which is locked. The pool is to keep the
// memory that becomes free when the snapshot goes, so that the next one finds it: new
// memory takes longer to get than the update takes.
func (r *Ref) fresh(c *OpContext) (*Tensor, error) {
	const rounding = 4 // blocks are up to a quarter larger
	if more := int64(r.t.HeldBytes()*(rounding+1)/rounding) - r.spare; more > 0 && c.Pool != nil {
		c.Pool.Extend(more)
		r.spare += more
	}
	return c.Temp(r.t.dtype, r.t.shape)
}

// A Change is the memory for a variable's next value, to which nothing else refers. T is
// nil while the variable is uninitialized. If the value is being read elsewhere, a
// snapshot that is saved say, T is new memory, and elements have the value once they
// have been made ready, which each has to be, once, before f returns. f does so with
// those that it is about to change: they are in the processor's cache then.
type Change struct {
	T    *Tensor
	from *Tensor // the value that others read; nil: T has it
}

// Fresh reports whether elements have to be made ready.
func (c *Change) Fresh() bool { return c.from != nil }

// From returns what has the variable's value: T, or the tensor that others read while
// elements of T are not ready. A kernel that computes all elements of T from those of
// From, and reads no others, need not make them ready.
func (c *Change) From() *Tensor {
	if c.from == nil {
		return c.T
	}
	return c.from
}

// Ready gives elements lo to hi-1 of T the value of the variable. Goroutines may make
// different elements ready at once.
func (c *Change) Ready(lo, hi int) {
	if c.from == nil {
		return
	}
	size := c.T.dtype.Size()
	copy(c.T.buf.Bytes()[lo*size:hi*size], c.from.buf.Bytes()[lo*size:hi*size])
}

// readyGrain is how many elements are worth a goroutine of their own.
const readyGrain = 1 << 15

// All makes all elements ready, by several goroutines.
func (c *Change) All(o *OpContext) {
	if c.from != nil {
		o.ParallelFor(c.T.Len(), readyGrain, c.Ready)
	}
}

// Swap calls f with the value and stores what it returns, as one step.
func (r *Ref) Swap(f func(old *Tensor) (*Tensor, error)) error {
	r.mu.Lock()
	defer r.written()
	t, err := f(r.t)
	if err != nil {
		return err
	}
	r.t = t
	return nil
}

// SoleOwner returns t if its memory has no other reference, else a copy in its
// place.
func SoleOwner(t *Tensor) *Tensor {
	if t == nil || sole(t) {
		return t
	}
	c := t.Clone()
	t.Release()
	return c
}

// sole reports whether nothing else refers to the memory of t, which is no piece of more
// that would be kept with it.
func sole(t *Tensor) bool {
	return t.buf != nil && t.buf.Sole() && !t.buf.Escaped() && !t.buf.IsPiece()
}
