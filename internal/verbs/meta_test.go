package verbs

import (
	"fmt"
	"testing"

	"github.com/gorge-tf/gorge/tf/core"
)

func TestSame(t *testing.T) {
	str := metaData{dtype: core.String, shape: core.Shape{1}, bytes: 10}
	longer := str
	longer.bytes = 11
	ints := floats(2, 3)
	ints.dtype = core.Int32
	oddDead := metaData{dtype: core.Int8, shape: core.Shape{1, 2}, dead: true}
	for _, c := range []struct {
		a, b metaData
		same bool
	}{
		{floats(2, 3), floats(2, 3), true}, {floats(2, 3), floats(3, 2), false}, {floats(6), floats(2, 3), false},
		{floats(2, 3), ints, false}, {str, str, true}, {str, longer, false}, {floats(0), deadMeta(), false},
		{deadMeta(), oddDead, true}, {metaData{}, floats(), false}, {metaData{}, deadMeta(), false}, {floats(), floats(1), false},
	} {
		if c.a.same(&c.b) != c.same || c.b.same(&c.a) != c.same {
			t.Errorf("same(%+v, %+v) is %v", c.a, c.b, !c.same)
		}
	}
}

// TestCacheSharesIterations: keys that differ in frame and iteration only are
// one edge, others are not.
func TestCacheSharesIterations(t *testing.T) {
	var c metaCache
	const edge = "/job:a/replica:0/task:0/device:CPU:0;0000000000000001;/job:b/replica:0/task:0/device:CPU:0;e;"
	c.put(edge+"0:0", floats(1))
	c.put(edge+"77:3", floats(2))
	if m, ok := c.get(edge + "77:4"); !ok || !m.shape.Equal(core.Shape{2}) {
		t.Errorf("another iteration finds %+v, %v", m, ok)
	}
	if m, ok := c.get("x" + edge + "0:0"); ok {
		t.Errorf("another edge finds %+v", m)
	}
	if m, ok := c.get("nonsense"); ok {
		t.Errorf("nonsense finds %+v", m)
	}
}

func TestCacheIsBounded(t *testing.T) {
	var c metaCache
	for i := range maxCached + 100 {
		c.put(fmt.Sprintf("a;b;c;edge%d;0:0", i), floats(i%7))
	}
	if len(c.meta) > maxCached {
		t.Errorf("the cache holds %d edges, its bound is %d", len(c.meta), maxCached)
	}
}
