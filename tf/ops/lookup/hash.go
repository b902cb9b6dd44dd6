package lookup

import (
	"fmt"
	"sync"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

// key lists the Go types of keys.
type key interface{ int32 | int64 | string }

// A mutable table keeps its entries in rows, in the order in which they came
// as long as none is removed.
type mutable[K key] struct {
	signature
	mu     sync.RWMutex
	row    map[K]int
	keys   []K
	values column
}

// newMutable returns a table of keys that are scalars, nil if there are none
// with such types.
func newMutable(s signature) table {
	switch s.key {
	case tf.Int32:
		return mutableOf[int32](s)
	case tf.Int64:
		return mutableOf[int64](s)
	}
	return mutableOf[string](s)
}

func mutableOf[K key](s signature) *mutable[K] {
	return &mutable[K]{signature: s, row: map[K]int{}, values: newColumn(s.value, s.valueShape.NumElements())}
}

func (m *mutable[K]) size() int {
	m.mu.RLock()
	defer m.mu.RUnlock()
	return len(m.keys)
}

func (m *mutable[K]) find(keys, def, out *core.Tensor) error {
	m.mu.RLock()
	defer m.mu.RUnlock()
	d := newColumn(m.value, m.valueShape.NumElements())
	n := rows(def, m.valueShape)
	d.resize(n)
	for i := range n {
		d.set(i, def, i)
	}
	each := n > 1
	for i, k := range core.Data[K](keys) {
		if at, ok := m.row[k]; ok {
			m.values.get(out, i, at)
		} else if each {
			d.get(out, i, i)
		} else if n == 1 {
			d.get(out, i, 0)
		}
	}
	return nil
}

func (m *mutable[K]) insert(keys, values *core.Tensor) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.add(keys, values)
	return nil
}

func (m *mutable[K]) add(keys, values *core.Tensor) {
	for i, k := range core.Data[K](keys) {
		at, ok := m.row[k]
		if !ok {
			at = len(m.keys)
			m.values.resize(at + 1) // first: there may be no memory
			m.row[k] = at
			m.keys = append(m.keys, k)
		}
		m.values.set(at, values, i)
	}
}

func (m *mutable[K]) remove(keys *core.Tensor) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, k := range core.Data[K](keys) {
		at, ok := m.row[k]
		if !ok {
			continue
		}
		last := len(m.keys) - 1
		m.keys[at] = m.keys[last]
		m.row[m.keys[at]] = at
		m.values.move(at, last)
		delete(m.row, k)
		m.keys = m.keys[:last]
		m.values.resize(last)
	}
	return nil
}

func (m *mutable[K]) replace(keys, values *core.Tensor) error {
	if err := m.checkPairs(keys, values); err != nil {
		return err
	}
	fresh := mutableOf[K](m.signature) // what was there stays if there is no memory
	fresh.add(keys, values)
	m.mu.Lock()
	defer m.mu.Unlock()
	m.row, m.keys, m.values = fresh.row, fresh.keys, fresh.values
	return nil
}

func (m *mutable[K]) export() (keys, values *core.Tensor, err error) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	keys = core.NewTensor(m.key, tf.Shape{len(m.keys)})
	copy(core.Data[K](keys), m.keys)
	values = core.NewTensor(m.value, append(tf.Shape{len(m.keys)}, m.valueShape...))
	for i := range m.keys {
		m.values.get(values, i, i)
	}
	return keys, values, nil
}

// A static table is filled once.
type static[K key] struct {
	*mutable[K]
	once  sync.Mutex // held while it is being filled
	ready bool       // guarded by mutable.mu
}

func newStatic(s signature) table {
	switch s.key {
	case tf.Int32:
		return &static[int32]{mutable: mutableOf[int32](s)}
	case tf.Int64:
		return &static[int64]{mutable: mutableOf[int64](s)}
	}
	return &static[string]{mutable: mutableOf[string](s)}
}

func (s *static[K]) initialized() bool {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.ready
}

// initialize fills the table. To do so again with the same contents changes
// nothing; other contents are an error. TensorFlow 2.21 means that by its error, but
// compares only how many entries there are, and keeps the old ones without a word.
func (s *static[K]) initialize(keys, values *core.Tensor) error {
	s.once.Lock()
	defer s.once.Unlock()
	if s.initialized() {
		if s.has(keys, values) {
			return nil
		}
		return tf.Errorf(tf.FailedPrecondition, "Table was already initialized with different data.")
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, k := range core.Data[K](keys) {
		if at, ok := s.row[k]; ok && !s.values.same(at, values, i) {
			old := core.NewTensor(s.value, tf.Shape{1})
			s.values.get(old, 0, at)
			clear(s.row)
			s.keys = nil
			s.values.resize(0)
			return tf.Errorf(tf.FailedPrecondition, "HashTable has different value for same key. Key %v has %s and trying to add value %s", fmt.Sprint(k), text(old, 0), text(values, i))
		}
		one := at(keys, i)
		s.add(one, at(values, i))
	}
	s.ready = true
	return nil
}

// at returns element i of a vector, as a vector.
func at(t *core.Tensor, i int) *core.Tensor {
	out := core.NewTensor(t.DType(), tf.Shape{1})
	c := newColumn(t.DType(), 1)
	c.resize(1)
	c.set(0, t, i)
	c.get(out, 0, 0)
	return out
}

// has reports whether the table has just these entries.
func (s *static[K]) has(keys, values *core.Tensor) bool {
	s.mu.RLock()
	defer s.mu.RUnlock()
	ks := core.Data[K](keys)
	if len(ks) != len(s.keys) {
		return false
	}
	for i, k := range ks {
		if at, ok := s.row[k]; !ok || !s.values.same(at, values, i) {
			return false
		}
	}
	return true
}

func (s *static[K]) find(keys, def, out *core.Tensor) error {
	if !s.initialized() {
		return tf.Errorf(tf.FailedPrecondition, "Table not initialized.")
	}
	return s.mutable.find(keys, def, out)
}

func (s *static[K]) export() (keys, values *core.Tensor, err error) {
	if !s.initialized() {
		return nil, nil, tf.Errorf(tf.Aborted, "HashTable is not initialized.")
	}
	return s.mutable.export()
}

func unsupported(what string) error {
	return tf.Errorf(tf.Unimplemented, "%s not supported by InitializableLookupTable implementations", what)
}

func (s *static[K]) insert(_, _ *core.Tensor) error { return unsupported("Insert") }
func (s *static[K]) remove(*core.Tensor) error      { return unsupported("Remove") }

// replace fills the table, once, as initialize does.
func (s *static[K]) replace(keys, values *core.Tensor) error {
	if err := s.checkPairs(keys, values); err != nil {
		return err
	}
	if keys.Len() == 0 {
		return errEmpty
	}
	return s.initialize(keys, values)
}
