package bundle

import (
	"google.golang.org/protobuf/proto"

	"github.com/gorge-tf/gorge/internal/wire/pb"
	"github.com/gorge-tf/gorge/tf"
)

const (
	largestMessage = 1 << 31
	tensorHeader   = 1 << 10 // more than a message has around the values
)

// encodedSize is how many bytes an element takes at most in a message.
var encodedSize = map[tf.DType]int{
	tf.Float32: 4, tf.Float64: 8, tf.Float16: 3, tf.Complex64: 8, tf.Complex128: 16, tf.Bool: 1,
	tf.Int8: 10, tf.Int16: 10, tf.Int32: 10, tf.Int64: 10, tf.QInt8: 10, tf.QInt16: 10, tf.QInt32: 10, tf.String: 10,
	tf.Uint8: 2, tf.QUint8: 2, tf.Uint16: 3, tf.QUint16: 3,
}

// messageSize returns how many bytes the message of a slice has at most.
func messageSize(name string, s Slice, t *tf.Tensor) int {
	head := &pb.SavedSlice{Name: name, Slice: s.proto()}
	n := proto.Size(head) + tensorHeader + encodedSize[t.DType()]*t.Len()
	if t.DType() == tf.String {
		for _, v := range tf.Data[string](t) {
			n += len(v)
		}
	}
	return n
}

// checkMessage refuses slices that may not fit into a message of at most so many
// bytes.
func checkMessage(n int) error {
	if n > largestMessage {
		return tf.Errorf(tf.InvalidArgument, "Tensor slice is too large to serialize (conservative estimate: %d bytes)", n)
	}
	return nil
}
