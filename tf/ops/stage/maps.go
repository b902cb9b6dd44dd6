package stage

import (
	"slices"

	"github.com/gorge-tf/gorge/internal/queue"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

// A store holds tuples by key. Their parts may come and go one by one.
type store struct {
	queue.Line
	limits
	size       int // of a complete tuple
	complete   map[int64]tuple
	incomplete map[int64]tuple
	bytes      int

	ordered bool
	keys    []int64 // of what is complete, if ordered
}

// An orderedStore gives out the lowest key first; it is another resource than a
// store of the same name.
type orderedStore struct{ store }

func newStore(n *core.Node, ordered bool) store {
	return store{limits: limitsOf(n), size: len(n.TypesAttr("dtypes")), complete: map[int64]tuple{}, incomplete: map[int64]tuple{}, ordered: ordered}
}

func init() {
	registerMaps("Map", func(f use[*store]) core.NewKernel {
		return kernel(func(n *core.Node) *store { s := newStore(n, false); return &s }, f)
	})
	registerMaps("OrderedMap", func(f use[*store]) core.NewKernel {
		return kernel(func(n *core.Node) *orderedStore { return &orderedStore{newStore(n, true)} },
			func(c *core.OpContext, s *orderedStore, done func(error)) { f(c, &s.store, done) })
	})
}

// registerMaps registers the ops of one kind of maps.
func registerMaps(kind string, k func(use[*store]) core.NewKernel) {
	const head = "capacity: int >= 0 = 0; memory_limit: int >= 0 = 0; "
	const types, some = head + "dtypes: list(type); " + names, head + "dtypes: list(type) >= 1; " + names
	const key, indices = "key: int64; ", "indices: int32"
	register(kind+"Stage", key+indices+"; values: fake_dtypes", "", head+"dtypes: list(type); fake_dtypes: list(type) >= 1; "+names, anyShape, k(putKey))
	register(kind+"Unstage", key+indices, "values: dtypes", some, anyShape, k(take(true)))
	register(kind+"Peek", key+indices, "values: dtypes", some, anyShape, k(take(false)))
	register(kind+"UnstageNoKey", indices, "key: int64; values: dtypes", some, anyShape, k(takeAny))
	register(kind+"Size", "", "size: int32", types, core.ScalarShape, k(now(counts(func(s *store) int { return len(s.complete) }))))
	register(kind+"IncompleteSize", "", "size: int32", types, core.ScalarShape, k(now(counts(func(s *store) int { return len(s.incomplete) }))))
	register(kind+"Clear", "", "", types, anyShape, k(now(clearStore)))
}

// checkIndices checks where values belong: in order, and within a tuple.
func checkIndices(indices []int32, key int64, size int) error {
	if len(indices) == 0 {
		return tf.Errorf(tf.InvalidArgument, "Indices are empty")
	}
	for i, at := range indices {
		if i > 0 && at <= indices[i-1] {
			return tf.Errorf(tf.InvalidArgument, "Indices are not strictly ordered")
		}
		if at < 0 || int(at) >= size {
			return tf.Errorf(tf.InvalidArgument, "Index '%d' for key '%d' was out of bounds '%d'.", at, key, size)
		}
	}
	return nil
}

func keyOf(c *core.OpContext) (int64, error) {
	if t := c.Input(0); t.Len() != 1 {
		return 0, tf.Errorf(tf.InvalidArgument, "key must be an int64 scalar: %s", t.Shape().String())
	}
	return core.Data[int64](c.Input(0))[0], nil
}

func putKey(c *core.OpContext, s *store, done func(error)) {
	indices, values := core.Data[int32](c.Input(1)), tuple(c.Tensors(2, c.Inputs())).shared()
	n := values.bytes()
	key, err := keyOf(c)
	if err == nil && len(indices) != len(values) {
		err = tf.Errorf(tf.InvalidArgument, "there must be as many indices as values, got %d and %d", len(indices), len(values))
	}
	if err == nil {
		err = checkIndices(indices, key, s.size)
	}
	if err == nil {
		err = s.check(n)
	}
	if err != nil {
		done(err)
		return
	}
	whole := len(indices) == s.size
	s.Wait(c.StepContext(), "MapStage", func() (bool, error) {
		elements := len(s.complete)
		if !whole {
			elements = -1 // parts of tuples are bounded by memory only
		}
		if !s.roomFor(n, elements, s.bytes) {
			return false, nil
		}
		if err := s.put(key, indices, values); err != nil {
			return false, err
		}
		s.bytes += n
		return true, nil
	}, done)
}

// put stores values, and completes the tuple if they are the last.
func (s *store) put(key int64, indices []int32, values tuple) error {
	if len(indices) == s.size {
		s.finish(key, values)
		return nil
	}
	t := s.incomplete[key]
	if t == nil {
		t = make(tuple, s.size)
	}
	for _, at := range indices {
		if t[at] != nil {
			return tf.Errorf(tf.InvalidArgument, "The tensor for index '%d' for key '%d' was already initialized '%d'.", at, key, s.size)
		}
	}
	for i, at := range indices {
		t[at] = values[i]
	}
	s.incomplete[key] = t
	if !slices.Contains(t, nil) {
		delete(s.incomplete, key)
		s.finish(key, t)
	}
	return nil
}

// finish makes a tuple one that can be taken. What is there under the key stays,
// and the tuple counts no more.
func (s *store) finish(key int64, t tuple) {
	if s.complete[key] != nil {
		s.bytes -= t.bytes()
		return
	}
	s.complete[key] = t
	if s.ordered {
		i, _ := slices.BinarySearch(s.keys, key)
		s.keys = slices.Insert(s.keys, i, key)
	}
}

// parts returns the tensors at indices of a complete tuple. They leave it if
// remove says so; a tuple with nothing in it leaves the store.
func (s *store) parts(key int64, indices []int32, remove bool) (tuple, error) {
	t := s.complete[key]
	if err := checkIndices(indices, key, len(t)); err != nil {
		return nil, err
	}
	out := make(tuple, len(indices))
	for i, at := range indices {
		if out[i] = t[at]; out[i] == nil {
			return nil, tf.Errorf(tf.InvalidArgument, "Tensor at index '%d' for key '%d' has already been removed.", at, key)
		}
	}
	if !remove {
		return out.shared(), nil
	}
	s.bytes -= out.bytes()
	for _, at := range indices {
		t[at] = nil
	}
	if !slices.ContainsFunc(t, func(x *core.Tensor) bool { return x != nil }) {
		s.drop(key)
	}
	return out, nil
}

func (s *store) drop(key int64) {
	delete(s.complete, key)
	if i, ok := slices.BinarySearch(s.keys, key); ok {
		s.keys = slices.Delete(s.keys, i, i+1)
	}
}

// take makes the use that waits for a key and makes parts of its tuple the
// outputs.
func take(remove bool) use[*store] {
	return func(c *core.OpContext, s *store, done func(error)) {
		indices := core.Data[int32](c.Input(1))
		key, err := keyOf(c)
		if err == nil {
			err = checkIndices(indices, key, s.size)
		}
		if err != nil {
			done(err)
			return
		}
		var got tuple
		s.Wait(c.StepContext(), c.Node.OpName(), func() (ok bool, err error) {
			if s.complete[key] == nil {
				return false, nil
			}
			got, err = s.parts(key, indices, remove)
			return err == nil, err
		}, func(err error) {
			if err == nil {
				err = got.set(c, 0)
			}
			done(err)
		})
	}
}

func takeAny(c *core.OpContext, s *store, done func(error)) {
	indices := core.Data[int32](c.Input(0))
	var got tuple
	var key int64
	s.Wait(c.StepContext(), c.Node.OpName(), func() (ok bool, err error) {
		if key, ok = s.next(); !ok {
			return false, nil
		}
		got, err = s.parts(key, indices, true)
		return err == nil, err
	}, func(err error) {
		if err == nil {
			c.Set(0, core.Scalar(key))
			err = got.set(c, 1)
		}
		done(err)
	})
}

// next returns the key whose tuple is to be taken.
func (s *store) next() (key int64, ok bool) {
	if s.ordered {
		if len(s.keys) == 0 {
			return 0, false
		}
		return s.keys[0], true
	}
	for key = range s.complete {
		return key, true
	}
	return 0, false
}

func counts(f func(*store) int) func(*core.OpContext, *store) error {
	return func(c *core.OpContext, s *store) error {
		return s.Change(func() error {
			c.Set(0, core.Scalar(int32(f(s))))
			return nil
		})
	}
}

func clearStore(_ *core.OpContext, s *store) error {
	return s.Change(func() error {
		clear(s.complete)
		clear(s.incomplete)
		s.keys, s.bytes = nil, 0
		return nil
	})
}

// Close ends a map that cannot be found any more.
func (s *store) Close() { s.Line.Close(tf.Errorf(tf.Canceled, "the staging map is gone")) }
