package resource

// Create puts v into a container under a name. It is an error when the
// container has a resource of that type and name already.
func Create[T any](m *Manager, container, name string, v T) error {
	container, t := m.Container(container), TypeOf[T]()
	if !m.insert(container, key{t.Hash, name}, newEntry(v)) {
		return errorf(AlreadyExists, "Resource %s/%s/%s", container, name, t.mangled)
	}
	return nil
}

// Lookup returns a resource. It does not hold off the resource's Close, should
// another goroutine delete it meanwhile; [Acquire] does.
func Lookup[T any](m *Manager, container, name string) (T, error) {
	r, err := Acquire[T](m, container, name)
	if err == nil {
		r.Release()
	}
	return r.Value, err
}

// Ref is a resource in use: it is not closed before Release.
type Ref[T any] struct {
	// Value is the resource.
	Value T
	entry *entry
}

// Release ends the use. It must be called once.
func (r Ref[T]) Release() { r.entry.unref() }

// Acquire returns a resource that stays open until the Ref is released, even
// when it is deleted before.
func Acquire[T any](m *Manager, container, name string) (Ref[T], error) {
	t := TypeOf[T]()
	e, err := m.acquire(m.Container(container), key{t.Hash, name}, t)
	if err != nil {
		return Ref[T]{}, err
	}
	v, ok := e.value.(T)
	if !ok {
		e.unref()
		return Ref[T]{}, errorf(InvalidArgument, "Resource %s/%s is a %T, which shares the type name %s with what was asked for", m.Container(container), name, e.value, t.Name)
	}
	return Ref[T]{Value: v, entry: e}, nil
}

// LookupOrCreate returns a resource, which create makes if there is none yet.
// However many goroutines ask, one constructor runs at a time and its result is
// what all get. create may use the manager, but not LookupOrCreate.
func LookupOrCreate[T any](m *Manager, container, name string, create func() (T, error)) (T, error) {
	v, err := Lookup[T](m, container, name)
	if err == nil {
		return v, nil
	}
	m.creating.Lock()
	defer m.creating.Unlock()
	if v, err = Lookup[T](m, container, name); err == nil {
		return v, nil
	}
	if v, err = create(); err != nil {
		return v, err
	}
	return insertOrLookup(m, container, name, v)
}

// insertOrLookup publishes v. A plain Create may have come first: then v goes
// and the other is what counts.
func insertOrLookup[T any](m *Manager, container, name string, v T) (T, error) {
	if Create(m, container, name, v) == nil {
		return v, nil
	}
	closeValue(v)
	return Lookup[T](m, container, name)
}

// Delete removes a resource; see [Manager.Delete] for the untyped form.
func Delete[T any](m *Manager, container, name string) error {
	t := TypeOf[T]()
	return m.remove(container, key{t.Hash, name}, t.mangled)
}
