package verbs

import (
	"encoding/binary"
	"math"
	"strings"
	"sync"

	"github.com/gorge-tf/gorge/tf/core"
)

// metaData is what a receiver has to know of a tensor to make room for it. The
// zero value says that nothing is known.
type metaData struct {
	dtype core.DType
	shape core.Shape
	dead  bool
	bytes int // that are written: elements, or a TensorProto of objects
}

// deadMeta describes a dead value as TensorFlow does: by a tensor that was
// never set.
func deadMeta() metaData { return metaData{dtype: core.Float32, shape: core.Shape{0}, dead: true} }

// objects reports whether elements of type d are no plain bytes, so that they
// cross as a TensorProto.
func objects(d core.DType) bool { return d.Size() == 0 }

// same reports whether what fits m fits o.
func (m *metaData) same(o *metaData) bool {
	return m.dead == o.dead && m.bytes == o.bytes && (m.dead || m.dtype == o.dtype && m.shape.Equal(o.shape))
}

// put encodes m to the message b, and appends what has no room there.
func (m *metaData) put(b, after []byte) []byte {
	if m.dtype == core.Invalid {
		return after
	}
	if m.dead {
		b[atDead] = 1
	}
	binary.LittleEndian.PutUint32(b[atDType:], uint32(m.dtype))
	binary.LittleEndian.PutUint64(b[atBytes:], uint64(m.bytes))
	return putShape(b[atShape:][:shapeSize], m.dtype, m.shape, after)
}

// parseMeta decodes the description of a tensor, which must make sense. after is
// where what has no room in b follows.
func parseMeta(b, after []byte) (metaData, error) {
	if b[atDead] != 0 {
		return deadMeta(), nil
	}
	d := binary.LittleEndian.Uint32(b[atDType:])
	if d > math.MaxUint8 || !core.DType(d).Valid() || core.DType(d).IsRef() {
		return metaData{}, core.Errorf(core.InvalidArgument, "a tensor in an RDMA message must be of a known type, got %d", d)
	}
	m := metaData{dtype: core.DType(d)}
	var err error
	if m.shape, err = parseShape(b[atShape:][:shapeSize], after); err != nil {
		return metaData{}, err
	}
	if err := core.CheckSize(m.dtype, m.shape); err != nil {
		return metaData{}, err
	}
	n := binary.LittleEndian.Uint64(b[atBytes:])
	return m, m.setBytes(n)
}

// setBytes checks the size that comes with a type and a shape.
func (m *metaData) setBytes(n uint64) error {
	switch {
	case objects(m.dtype) && n > math.MaxInt32:
		return core.Errorf(core.InvalidArgument, "a TensorProto must be smaller than 2 GiB, got %v%v of %d bytes", m.dtype, m.shape, n)
	case !objects(m.dtype) && n != uint64(m.shape.NumElements()*m.dtype.Size()):
		return core.Errorf(core.InvalidArgument, "a tensor's size must follow from its type and shape, got %v%v of %d bytes", m.dtype, m.shape, n)
	}
	m.bytes = int(n)
	return nil
}

// A metaCache remembers what was sent on each edge, since the next step will
// mostly send the like. It is safe for concurrent use.
type metaCache struct {
	mu   sync.Mutex
	meta map[string]metaData
}

// maxCached bounds the cache: graphs come and go while the task lives.
const maxCached = 1 << 16

// edgeOf cuts the frame and iteration from a key: all iterations of a loop
// share what is remembered.
func edgeOf(key string) string {
	if i := strings.LastIndexByte(key, ';'); i >= 0 {
		return key[:i]
	}
	return key
}

func (c *metaCache) get(key string) (metaData, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	m, ok := c.meta[edgeOf(key)]
	return m, ok
}

func (c *metaCache) put(key string, m metaData) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.meta == nil {
		c.meta = map[string]metaData{}
	}
	if len(c.meta) >= maxCached {
		for some := range c.meta { // any will do, edges in use come back
			delete(c.meta, some)
			break
		}
	}
	c.meta[edgeOf(key)] = m
}
