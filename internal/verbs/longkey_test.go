package verbs

import (
	"strings"
	"testing"
	"testing/synctest"

	"github.com/gorge-tf/gorge/tf/core"
)

// TestLongKeyNeedsGorge: a request with a long key waits for the peer's ping, and
// is sent only to a peer that understands it.
func TestLongKeyNeedsGorge(t *testing.T) {
	long := strings.Repeat("k", 600)
	refused := "= NAME error " + keyTooLong(long, maxKey).Error() + "\n"
	for name, script := range map[string]string{
		"gorge": "connect 7\n  > ping\nrecv a " + long + " 1\npeer ping gorge\n  > request 0 " + long + " 1 ?\n" +
			"recv b " + long + " 2\npeer ack\n  > request 1 " + long + " 2 ?\n",
		"tensorflow": "connect 7\n  > ping\nrecv a " + long + " 1\nrecv b k 1\n  > request 1 k 1 ?\npeer ping tensorflow\n  " +
			strings.Replace(refused, "NAME", "a", 1) + "recv c " + long + " 2\n  " + strings.Replace(refused, "NAME", "c", 1),
		"abandoned": "connect 7\n  > ping\nrecv a " + long + " 1\nabandon a\n  = a error context canceled\npeer ping gorge\n",
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { play(t, script) })
		})
	}
}

// TestLongKeyMessage: the key follows the fixed part, and a shape follows the key.
func TestLongKeyMessage(t *testing.T) {
	b := make([]byte, messageSize)
	for _, n := range []int{0, 512, 513, maxLongKey} {
		m := &message{typ: tensorRequest, index: 5, key: strings.Repeat("x", n), step: 9, meta: metaData{dtype: core.Int8, shape: core.Shape{1, 1, 1, 1, 1, 1, 2}, bytes: 2}}
		got, err := parseMessage(b[:m.put(b)])
		if err != nil || got.key != m.key || !got.meta.shape.Equal(m.meta.shape) || got.step != 9 {
			t.Errorf("a key of %d bytes comes back as %d, %v, %v", n, len(got.key), got.meta.shape, err)
		}
	}
	m := &message{typ: tensorRequest, key: strings.Repeat("x", 600)}
	n := m.put(b)
	for _, cut := range []int{fixedSize, fixedSize + 1, fixedSize + 2, n - 1} {
		if _, err := parseMessage(b[:cut]); core.CodeOf(err) != core.InvalidArgument {
			t.Errorf("a message that ends in its key gives %v", err)
		}
	}
}
