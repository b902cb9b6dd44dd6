package verbs

import (
	"encoding/binary"
	"unicode/utf8"

	"google.golang.org/protobuf/proto"

	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/pb"
)

// derivedDetails marks errors that follow from another one, by the name that
// TensorFlow has for the mark.
const derivedDetails = "type.googleapis.com/tensorflow.DerivedStatus"

// maxErrorText leaves room for the rest of the status in a message.
const maxErrorText = maxStatus - 128

// appendStatus encodes err with its size in front.
func appendStatus(b []byte, err error) []byte {
	e := core.AsError(err)
	p := &pb.ErrorStatusProto{ErrorCode: int32(e.Code), ErrorMessage: truncate(e.WireMessage(), maxErrorText)}
	if e.Derived {
		p.ErrorDetails = derivedDetails
	}
	body, err := proto.Marshal(p)
	if err != nil { // the text is no UTF-8
		body, _ = proto.Marshal(&pb.ErrorStatusProto{ErrorCode: p.ErrorCode, ErrorMessage: "the error's text is not UTF-8"})
	}
	b = binary.LittleEndian.AppendUint32(b, uint32(len(body)))
	return append(b, body...)
}

// truncate shortens a text to n bytes without cutting a character.
func truncate(s string, n int) string {
	const mark = " ... [truncated]"
	if len(s) <= n {
		return s
	}
	n -= len(mark)
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n] + mark
}

// parseStatus decodes the error in a message.
func parseStatus(b []byte) (sent error, err error) {
	if len(b) < 4 || uint64(binary.LittleEndian.Uint32(b)) > uint64(min(len(b)-4, maxStatus)) {
		return nil, core.Errorf(core.InvalidArgument, "the status in an RDMA message must fit there")
	}
	p := &pb.ErrorStatusProto{}
	if err := proto.Unmarshal(b[4:][:binary.LittleEndian.Uint32(b)], p); err != nil {
		return nil, core.Errorf(core.InvalidArgument, "the status in an RDMA message must be an ErrorStatusProto: %v", err)
	}
	code := core.Code(p.GetErrorCode())
	if code <= core.OK || code > core.Unauthenticated {
		code = core.Unknown
	}
	return &core.Error{Code: code, Msg: p.GetErrorMessage(), Derived: p.GetErrorDetails() == derivedDetails}, nil
}
