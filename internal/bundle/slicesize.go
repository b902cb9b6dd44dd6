package bundle

import (
	"google.golang.org/protobuf/proto"

	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/pb"
)

const (
	largestMessage = 1 << 31
	tensorHeader   = 1 << 10 // more than a message has around the values
)

// encodedSize is how many bytes an element takes at most in a message.
var encodedSize = map[core.DType]int{
	core.Float32: 4, core.Float64: 8, core.Float16: 3, core.Complex64: 8, core.Complex128: 16, core.Bool: 1,
	core.Int8: 10, core.Int16: 10, core.Int32: 10, core.Int64: 10, core.QInt8: 10, core.QInt16: 10, core.QInt32: 10, core.String: 10,
	core.Uint8: 2, core.QUint8: 2, core.Uint16: 3, core.QUint16: 3, core.BFloat16: 3, core.Uint32: 5, core.Uint64: 10,
}

// messageSize returns how many bytes the message of a slice has at most.
func messageSize(name string, s Slice, t *core.Tensor) int {
	head := &pb.SavedSlice{Name: name, Slice: s.proto()}
	n := proto.Size(head) + tensorHeader + encodedSize[t.DType()]*t.Len()
	if t.DType() == core.String {
		for _, v := range core.Data[string](t) {
			n += len(v)
		}
	}
	return n
}

// checkMessage refuses slices that may not fit into a message of at most so many
// bytes.
func checkMessage(n int) error {
	if n > largestMessage {
		return core.Errorf(core.InvalidArgument, "Tensor slice is too large to serialize (conservative estimate: %d bytes)", n)
	}
	return nil
}
