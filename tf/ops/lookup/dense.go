package lookup

import (
	"slices"
	"sync"

	"github.com/gorge-tf/gorge/internal/hash"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

// A dense table keeps keys and values in buckets, of which it exports all. A
// bucket that never had an entry has the empty key, one whose entry was removed
// the deleted key. Buckets are probed in TensorFlow's order.
type dense[K key] struct {
	signature
	load           float64
	empty, deleted []K
	hasDeleted     bool

	mu      sync.RWMutex
	buckets int
	entries int
	keys    []K
	values  column
}

// newDense returns a table whose keys have the shape of empty. Without deleted
// nothing can be removed.
func newDense(s signature, empty, deleted *core.Tensor, buckets int, load float32) (table, error) {
	switch s.key {
	case tf.Int32:
		return denseOf[int32](s, empty, deleted, buckets, load)
	case tf.Int64:
		return denseOf[int64](s, empty, deleted, buckets, load)
	}
	return denseOf[string](s, empty, deleted, buckets, load)
}

func denseOf[K key](s signature, empty, deleted *core.Tensor, buckets int, load float32) (table, error) {
	d := &dense[K]{signature: s, load: float64(load), empty: slices.Clone(core.Data[K](empty))}
	if deleted != nil {
		d.hasDeleted, d.deleted = true, slices.Clone(core.Data[K](deleted))
		if slices.Equal(d.empty, d.deleted) {
			return nil, tf.Errorf(tf.InvalidArgument, "Empty and deleted keys cannot be equal")
		}
	}
	return d, d.allocate(buckets)
}

// mostCells bounds the keys and the values of a table, with all their elements.
const mostCells = 1 << 31

func (d *dense[K]) allocate(n int) error {
	width := max(len(d.empty), d.valueShape.NumElements(), 1)
	switch {
	case n < 4 || n&(n-1) != 0:
		return tf.Errorf(tf.InvalidArgument, "Number of buckets must be at least 4 and a power of 2, got: %d", n)
	case n > mostCells/width:
		return tf.Errorf(tf.ResourceExhausted, "a table has at most %d elements, got %d buckets of %d", mostCells, n, width)
	}
	keys, values := core.Make[K](n*len(d.empty)), newColumn(d.value, d.valueShape.NumElements())
	values.resize(n) // what was there stays if there is no memory
	for i := range keys {
		keys[i] = d.empty[i%len(d.empty)]
	}
	d.buckets, d.entries, d.keys, d.values = n, 0, keys, values
	return nil
}

func (d *dense[K]) size() int {
	d.mu.RLock()
	defer d.mu.RUnlock()
	return d.entries
}

// at returns key i of a list.
func (d *dense[K]) at(keys []K, i int) []K {
	w := len(d.empty)
	return keys[i*w : (i+1)*w]
}

// count returns how many keys there are in a tensor: a vector of keys, or one.
func (d *dense[K]) count(keys *core.Tensor) (int, error) {
	n := 1
	if keys.Rank() > 0 {
		n = keys.Dim(0)
	}
	if keys.Len() != n*len(d.empty) {
		want := append(tf.Shape{n}, d.keyShape...)
		return 0, tf.Errorf(tf.InvalidArgument, "Expected key shape %s got %s", want.String(), keys.Shape().String())
	}
	if len(d.empty) == 0 {
		return 0, nil
	}
	return n, nil
}

// checkKey refuses keys that mark buckets.
func (d *dense[K]) checkKey(k []K) error {
	switch {
	case slices.Equal(k, d.empty):
		return tf.Errorf(tf.InvalidArgument, "Using the empty_key as a table key is not allowed")
	case d.hasDeleted && slices.Equal(k, d.deleted):
		return tf.Errorf(tf.InvalidArgument, "Using the deleted_key as a table key is not allowed")
	}
	return nil
}

// probe returns the bucket of k, and the first one that an insertion may use.
func (d *dense[K]) probe(k []K) (bucket, free int) {
	bucket, free = -1, -1
	mask := uint64(d.buckets - 1)
	at := hashKey(k) & mask
	for n := uint64(1); n <= uint64(d.buckets); n++ {
		switch in := d.at(d.keys, int(at)); {
		case slices.Equal(in, k):
			return int(at), free
		case slices.Equal(in, d.empty):
			if free < 0 {
				free = int(at)
			}
			return -1, free
		case d.hasDeleted && free < 0 && slices.Equal(in, d.deleted):
			free = int(at)
		}
		at = (at + n) & mask
	}
	return -1, free
}

func (d *dense[K]) find(keys, def, out *core.Tensor) error {
	d.mu.RLock()
	defer d.mu.RUnlock()
	ks := core.Data[K](keys)
	asked, err := d.count(keys)
	if err != nil {
		return err
	}
	missing := newColumn(d.value, d.valueShape.NumElements())
	n := rows(def, d.valueShape)
	missing.resize(n)
	for i := range n {
		missing.set(i, def, i)
	}
	for i := range asked {
		k := d.at(ks, i)
		if err := d.checkKey(k); err != nil {
			return err
		}
		if at, _ := d.probe(k); at >= 0 {
			d.values.get(out, i, at)
		} else if n > 0 {
			missing.get(out, i, i%n)
		}
	}
	return nil
}

func (d *dense[K]) insert(keys, values *core.Tensor) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	ks := core.Data[K](keys)
	n, err := d.count(keys)
	if err != nil {
		return err
	}
	if err := d.reserve(d.entries + n); err != nil {
		return err
	}
	for i := range n {
		k := d.at(ks, i)
		if err := d.checkKey(k); err != nil {
			return err
		}
		at, free := d.probe(k)
		if at < 0 {
			if at = free; at < 0 {
				return tf.Errorf(tf.Internal, "Internal error in MutableDenseHashTable insert")
			}
			copy(d.at(d.keys, at), k)
			d.entries++
		}
		d.values.set(at, values, i)
	}
	return nil
}

// reserve makes room for n entries.
func (d *dense[K]) reserve(n int) error {
	buckets := d.buckets
	for float64(n) > float64(buckets)*d.load && buckets < mostCells {
		buckets *= 2
	}
	if buckets == d.buckets {
		return nil
	}
	row := core.NewTensor(d.value, append(tf.Shape{1}, d.valueShape...))
	oldKeys, oldValues, had := d.keys, d.values, d.buckets
	if err := d.allocate(buckets); err != nil {
		return err
	}
	for i := range had {
		k := d.at(oldKeys, i)
		if d.checkKey(k) != nil {
			continue
		}
		at, free := d.probe(k)
		if at < 0 { // else the key is there twice, as import may have it: the last one counts
			at = free
			copy(d.at(d.keys, at), k)
			d.entries++
		}
		oldValues.get(row, 0, i)
		d.values.set(at, row, 0)
	}
	return nil
}

func (d *dense[K]) remove(keys *core.Tensor) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	ks := core.Data[K](keys)
	n, err := d.count(keys)
	if err != nil {
		return err
	}
	for i := range n {
		k := d.at(ks, i)
		if err := d.checkKey(k); err != nil {
			return err
		}
		if at, _ := d.probe(k); at >= 0 {
			d.entries--
			copy(d.at(d.keys, at), d.deleted)
		}
	}
	return nil
}

// vector returns the shape in which a key or a value is stored, and comes out:
// a scalar is a vector of one element.
func vector(s tf.Shape) tf.Shape {
	if len(s) == 0 {
		return tf.Shape{1}
	}
	return s
}

// replace takes buckets as export gave them: their order is kept.
func (d *dense[K]) replace(keys, values *core.Tensor) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	stored := signature{keyShape: vector(d.keyShape), valueShape: vector(d.valueShape)}
	if err := stored.checkPairs(keys, values); err != nil {
		return err
	}
	ks := core.Data[K](keys)
	n := len(ks) / max(len(d.empty), 1)
	if err := d.allocate(n); err != nil {
		return err
	}
	copy(d.keys, ks)
	for i := range n {
		d.values.set(i, values, i)
		if d.checkKey(d.at(d.keys, i)) == nil {
			d.entries++
		}
	}
	return nil
}

func (d *dense[K]) export() (keys, values *core.Tensor, err error) {
	d.mu.RLock()
	defer d.mu.RUnlock()
	keys = core.NewTensor(d.key, append(tf.Shape{d.buckets}, vector(d.keyShape)...))
	copy(core.Data[K](keys), d.keys)
	values = core.NewTensor(d.value, append(tf.Shape{d.buckets}, vector(d.valueShape)...))
	for i := range d.buckets {
		d.values.get(values, i, i)
	}
	return keys, values, nil
}

// hashKey is TensorFlow's hash of a key, which decides the order of buckets.
func hashKey[K key](k []K) uint64 {
	if len(k) == 1 {
		return hashScalar(k[0])
	}
	h := uint64(0)
	for _, v := range k {
		h = hash.Hash64Combine(h, hashScalar(v))
	}
	return h
}

func hashScalar[K key](k K) uint64 {
	switch v := any(k).(type) {
	case int32:
		return uint64(v)
	case int64:
		return uint64(v)
	case string:
		return hash.Hash64(v)
	}
	return 0
}
