// Package resource keeps the objects that outlive a step on a device: variables,
// queues, tables, iterators. A [Manager] maps a container and, inside it, a type
// and a name to an object; two objects of different types may share a name.
package resource

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
)

// stepPrefix begins the names of containers of steps.
const stepPrefix = "__per_step_"

// StepContainer names the container of what lives for one step only. The
// owner of the step clears it, by [Manager.ClearStep], when the step is over.
func StepContainer(step int64) string {
	return stepPrefix + strconv.FormatInt(step, 10)
}

// Manager holds the resources of one device. The empty container name stands
// for its default one everywhere. A Manager is safe for concurrent use; use
// [NewManager] to make one.
type Manager struct {
	fallback   string // the container of nodes that name none
	mu         sync.RWMutex
	containers map[string]container
	steps      atomic.Int64 // how many of containers are those of steps; changes under mu

	writes atomic.Int64 // see Wrote

	// creating is held while LookupOrCreate runs a constructor, which mu
	// must not be: constructors may look up and create other resources.
	creating sync.Mutex
}

type container map[key]*entry

// key is what an object is found by inside its container. Handles carry the
// hash of the type, not the type.
type key struct {
	hash uint64
	name string
}

// entry counts the users of an object: the manager as long as it is in a
// container, and every Ref.
type entry struct {
	value any
	refs  atomic.Int64
}

// NewManager returns a manager without resources. What names no container goes
// to the one given: in TensorFlow it is called as the job is.
func NewManager(fallback string) *Manager {
	return &Manager{fallback: fallback, containers: map[string]container{}}
}

// Container returns the name of the container that name stands for.
func (m *Manager) Container(name string) string {
	if name == "" {
		return m.fallback
	}
	return name
}

// Delete removes the resource that a handle with these fields points to. A
// removed resource that has a method Close() has it called, at once or with the
// last [Ref].
func (m *Manager) Delete(container, name string, typeHash uint64) error {
	return m.remove(container, key{typeHash, name}, unknownType)
}

// Find returns the resource that a handle with these fields points to, whatever
// its type. Like [Lookup] it does not hold off the resource's Close.
func (m *Manager) Find(container, name string, typeHash uint64) (value any, ok bool) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	e, ok := m.containers[m.Container(container)][key{typeHash, name}]
	if !ok {
		return nil, false
	}
	return e.value, true
}

func (m *Manager) remove(container string, k key, typeName string) error {
	container = m.Container(container)
	m.mu.Lock()
	c, ok := m.containers[container]
	if !ok {
		m.mu.Unlock()
		return errorf(NotFound, "Container %s does not exist.", container)
	}
	e, ok := c[k]
	delete(c, k)
	m.mu.Unlock()
	if !ok {
		return errorf(NotFound, "Resource %s/%s/%s does not exist.", container, k.name, typeName)
	}
	e.unref()
	return nil
}

// Clear removes a container with all its resources. Clearing one that does not
// exist does nothing.
func (m *Manager) Clear(container string) {
	container = m.Container(container)
	if !m.has(container) {
		return // most steps keep nothing: do not stop the others for them
	}
	m.mu.Lock()
	c, ok := m.containers[container]
	delete(m.containers, container)
	if ok && strings.HasPrefix(container, stepPrefix) {
		m.steps.Add(-1)
	}
	m.mu.Unlock()
	c.unref()
}

// ClearStep clears the container of a step. Most steps keep nothing: then it
// costs a load.
func (m *Manager) ClearStep(step int64) {
	if m.steps.Load() > 0 {
		m.Clear(StepContainer(step))
	}
}

// ClearAll removes all containers.
func (m *Manager) ClearAll() {
	m.mu.Lock()
	all := m.containers
	m.containers = map[string]container{}
	m.steps.Store(0)
	m.mu.Unlock()
	for _, c := range all {
		c.unref()
	}
}

// Containers returns the names of the containers in order.
func (m *Manager) Containers() []string {
	m.mu.RLock()
	defer m.mu.RUnlock()
	return slices.Sorted(maps.Keys(m.containers))
}

// Each calls f with all resources there are at the moment.
func (m *Manager) Each(f func(container, name string, value any)) {
	type found struct {
		container, name string
		value           any
	}
	var all []found
	m.mu.RLock()
	for name, c := range m.containers {
		for k, e := range c {
			all = append(all, found{name, k.name, e.value})
		}
	}
	m.mu.RUnlock()
	for _, r := range all {
		f(r.container, r.name, r.value)
	}
}

func (m *Manager) has(container string) bool {
	m.mu.RLock()
	defer m.mu.RUnlock()
	_, ok := m.containers[container]
	return ok
}

// insert puts e at k unless there is something already.
func (m *Manager) insert(name string, k key, e *entry) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	c, ok := m.containers[name]
	if !ok {
		c = container{}
		m.containers[name] = c
		if strings.HasPrefix(name, stepPrefix) {
			m.steps.Add(1)
		}
	}
	if _, taken := c[k]; taken {
		return false
	}
	c[k] = e
	return true
}

// acquire returns the entry at k with one more reference.
func (m *Manager) acquire(name string, k key, t *Type) (*entry, error) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	c, ok := m.containers[name]
	if !ok {
		return nil, errorf(NotFound, "Container %s does not exist. (Could not find resource: %s/%s)", name, name, k.name)
	}
	e, ok := c[k]
	if !ok {
		return nil, errorf(NotFound, "Resource %s/%s/%s does not exist.", name, k.name, t.mangled)
	}
	e.refs.Add(1)
	return e, nil
}

func newEntry(value any) *entry {
	e := &entry{value: value}
	e.refs.Store(1)
	return e
}

func (e *entry) unref() {
	if e.refs.Add(-1) == 0 {
		closeValue(e.value)
	}
}

func (c container) unref() {
	for _, e := range c {
		e.unref()
	}
}

func closeValue(v any) {
	if c, ok := v.(interface{ Close() }); ok {
		c.Close()
	}
}
