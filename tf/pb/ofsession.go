package pb

import (
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
)

// sessionField is the number of a field that TensorFlow's messages do not have and
// that its tasks pass over: a session.
const sessionField = 50001

// SetSession makes a request one of a session. Requests that collective operations
// make have no field for that: in TensorFlow they belong to no session.
func SetSession(m proto.Message, handle string) {
	r := m.ProtoReflect()
	b := protowire.AppendTag(r.GetUnknown(), sessionField, protowire.BytesType)
	r.SetUnknown(protowire.AppendString(b, handle))
}

// SessionOf returns the session that a request is of; "": of none.
func SessionOf(m proto.Message) (handle string) {
	for b := []byte(m.ProtoReflect().GetUnknown()); len(b) > 0; {
		number, kind, tag := protowire.ConsumeTag(b)
		n := protowire.ConsumeFieldValue(number, kind, b[max(tag, 0):])
		if tag < 0 || n < 0 {
			return handle
		}
		if number == sessionField && kind == protowire.BytesType {
			v, _ := protowire.ConsumeBytes(b[tag:])
			handle = string(v)
		}
		b = b[tag+n:]
	}
	return handle
}
