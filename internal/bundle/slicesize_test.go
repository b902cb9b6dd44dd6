package bundle

import (
	"bytes"
	"testing"

	"google.golang.org/protobuf/proto"

	"github.com/gorge-tf/gorge/tf/core"
)

// TestSizeOfEveryType: the estimate for a slice is never less than its message takes,
// whatever its type and its values are.
func TestSizeOfEveryType(t *testing.T) {
	for d := range listers {
		if d == core.String {
			continue
		}
		x := core.NewTensor(d, core.Shape{1000})
		if b := x.Buffer().Bytes(); d != core.Bool {
			copy(b, bytes.Repeat([]byte{0xff}, len(b)))
		}
		p, err := listed(x)
		if err != nil {
			t.Fatal(err)
		}
		if n := messageSize("x", Whole(1), x) - tensorHeader; proto.Size(p) > n+tensorHeader/2 {
			t.Errorf("%v: %d bytes, at most %d are expected", d, proto.Size(p), n)
		}
	}
}
