package verbs

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gorge-tf/gorge/tf/core"
)

func floats(dims ...int) metaData {
	s := append(core.Shape{}, dims...)
	return metaData{dtype: core.Float32, shape: s, bytes: 4 * s.NumElements()}
}

// TestRequestBytes compares a request with the bytes that the layout of
// TensorFlow's messages gives, put together by hand.
func TestRequestBytes(t *testing.T) {
	m := &message{typ: tensorRequest, index: 0x01020304, key: "key", step: -2, addr: 0x1122334455667788, rkey: 0xAABBCCDD, meta: floats(2, 3)}
	want := make([]byte, 583)
	want[0] = 2                                  // TENSOR_REQUEST
	copy(want[4:], "\x03\x00key")                // name_size, name
	copy(want[518:], "\xfe\xff\xff\xff\xff\xff") // step_id
	copy(want[524:], "\xff\xff")
	copy(want[526:], "\x04\x03\x02\x01\x00\x00\x00\x00") // request_index
	copy(want[534:], "\x88\x77\x66\x55\x44\x33\x22\x11") // remote_addr
	copy(want[542:], "\xdd\xcc\xbb\xaa")                 // rkey
	copy(want[547:], "\x01\x00\x00\x00")                 // DT_FLOAT, alive
	copy(want[551:], "\x02\x00\x03\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x01\x02\x00\x06\x00\x00\x00\x00\x00\x00\x00")
	copy(want[575:], "\x18\x00\x00\x00\x00\x00\x00\x00") // tensor_bytes
	b := bytes.Repeat([]byte{0xEE}, messageSize)         // of the message before
	if n := m.put(b); !bytes.Equal(b[:n], want) {
		t.Errorf("request is\n%s\nwant\n%s", hex.Dump(b[:n]), hex.Dump(want))
	}
}

// TestErrorBytes does the same for an error, whose status is a protocol
// buffer: code 8, text, details.
func TestErrorBytes(t *testing.T) {
	m := &message{typ: errorStatus, index: 7, err: &core.Error{Code: core.ResourceExhausted, Msg: "oom", Derived: true}}
	const details = "type.googleapis.com/tensorflow.DerivedStatus"
	status := "\x08\x08" + "\x12\x03oom" + "\x1a" + string(rune(len(details))) + details
	want := make([]byte, 583)
	want[0], want[526] = 3, 7
	want = append(want, byte(len(status)), 0, 0, 0)
	want = append(want, status...)
	b := make([]byte, messageSize)
	if n := m.put(b); !bytes.Equal(b[:n], want) {
		t.Errorf("error is\n%s\nwant\n%s", hex.Dump(b[:n]), hex.Dump(want))
	}
}

var messages = []message{
	{typ: tensorRequest, index: 0, key: "k", step: 1},
	{typ: tensorRequest, index: maxIndex, key: strings.Repeat("k", maxKey), step: -1, addr: 1 << 63, rkey: 1 << 31, meta: floats()},
	{typ: tensorReRequest, index: 1, key: "k", step: 1, meta: floats(0)},
	{typ: metaDataUpdate, meta: floats(1, 2, 3, 4, 5, 65534)},
	{typ: metaDataUpdate, meta: floats(1, 2, 65535)},
	{typ: metaDataUpdate, meta: floats(4294967294, 1)},
	{typ: metaDataUpdate, meta: floats(4294967295)},
	{typ: metaDataUpdate, meta: floats(1, 1, 1, 1, 1, 1, 2)},
	{typ: metaDataUpdate, meta: floats(1, 2, 3, 65535)},
	{typ: metaDataUpdate, meta: metaData{dtype: core.String, shape: core.Shape{3}, bytes: 1234}},
	{typ: metaDataUpdate, meta: metaData{dtype: core.Uint4, shape: core.Shape{3}, bytes: 3}},
	{typ: metaDataUpdate, meta: deadMeta()},
	{typ: errorStatus, index: 3, err: &core.Error{Code: core.Aborted, Msg: "gone", Derived: true}},
	{typ: errorStatus, index: 3, err: &core.Error{Code: core.Internal, Msg: "Grüße"}},
	{typ: tensorCancel, index: 5},
}

var fields = cmp.AllowUnexported(message{}, metaData{})

func TestMessageRoundTrip(t *testing.T) {
	for i, m := range messages {
		b := make([]byte, messageSize)
		got, err := parseMessage(b[:m.put(b)])
		if err != nil {
			t.Errorf("message %d: %v", i, err)
			continue
		}
		if d := cmp.Diff(&m, got, fields); d != "" {
			t.Errorf("message %d changes on its way (-sent +got):\n%s", i, d)
		}
	}
}

// TestShapeForms: what TensorFlow can read is written in its own forms.
func TestShapeForms(t *testing.T) {
	for _, c := range []struct {
		shape core.Shape
		form  byte
		bytes int // that follow the message
	}{
		{core.Shape{}, 0, 0}, {core.Shape{65534, 1, 1, 1, 1, 65534}, 0, 0}, {core.Shape{65535}, 1, 0}, {core.Shape{1, 4294967294, 0}, 1, 0},
		{core.Shape{4294967295}, 3, 8}, {core.Shape{65535, 1, 1, 1}, 3, 32}, {core.Shape{1, 1, 1, 1, 1, 1, 1}, 3, 56},
	} {
		b := make([]byte, shapeSize)
		after := putShape(b, core.Float32, c.shape, nil)
		if b[15] != c.form || len(after) != c.bytes || plainShape(c.shape) != (c.form != 3) {
			t.Errorf("%v is written in form %d with %d bytes more, want form %d and %d", c.shape, b[15], len(after), c.form, c.bytes)
		}
	}
}

// TestBadMessages: each bad field is named in the error.
func TestBadMessages(t *testing.T) {
	put := func(at int, v byte) func([]byte) []byte {
		return func(b []byte) []byte { b[at] = v; return b }
	}
	for _, c := range []struct {
		name, want string
		typ        messageType
		change     func([]byte) []byte
	}{
		{"short", "at least 583 bytes", metaDataUpdate, func(b []byte) []byte { return b[:582] }},
		{"type", "type 0 to 4, got 9", metaDataUpdate, put(0, 9)},
		{"index", "index must be at most", metaDataUpdate, put(530, 1)},
		{"key", "key of 512 bytes, its length is given as 769", tensorRequest, put(5, 3)},
		{"dtype", "known type, got 99", metaDataUpdate, put(547, 99)},
		{"wide dtype", "known type, got 65537", metaDataUpdate, put(549, 1)},
		{"reference", "known type, got 101", metaDataUpdate, put(547, 101)},
		{"no dtype", "known type, got 0", metaDataUpdate, put(547, 0)},
		{"form", "known form and fit there, got form 2", metaDataUpdate, put(566, 2)},
		{"rank", "form 0 of rank 7", metaDataUpdate, put(565, 7)},
		{"elements", "[3] does not have 4", metaDataUpdate, put(567, 4)},
		{"bytes", "float32[3] of 13 bytes", metaDataUpdate, put(575, 13)},
		{"status", "must fit there", errorStatus, put(585, 1)},
		{"no status", "must fit there", errorStatus, func(b []byte) []byte { return b[:585] }},
		{"protocol buffer", "must be an ErrorStatusProto", errorStatus, put(587, 0xFF)},
	} {
		m := message{typ: c.typ, key: "k", meta: floats(3), err: core.Errorf(core.Internal, "x")}
		b := make([]byte, messageSize)
		b = c.change(b[:m.put(b)])
		if got, err := parseMessage(b); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("bad %s: %+v, %v, want an error with %q", c.name, got, err, c.want)
		}
	}
}

// TestHugeShape: sizes whose product overflows are no shape.
func TestHugeShape(t *testing.T) {
	b := make([]byte, messageSize)
	m := message{typ: metaDataUpdate, meta: floats(1, 1, 1, 1)}
	n := m.put(b)
	for i := range 4 {
		binary.LittleEndian.PutUint16(b[551+2*i:], 0xFFFE)
	}
	binary.LittleEndian.PutUint64(b[567:], 0xFFFE*0xFFFE*0xFFFE*0xFFFE%(1<<64)) // wraps around
	if got, err := parseMessage(b[:n]); err == nil {
		t.Errorf("a tensor of 2^66 bytes is accepted: %+v", got.meta)
	}
}

// TestErrorText: a text that has no room is cut between characters, and what
// is no text does not lose the code.
func TestErrorText(t *testing.T) {
	for _, msg := range []string{strings.Repeat("ü", 5000), strings.Repeat("x", 10000), "bad \xff text"} {
		b := appendStatus(nil, core.Errorf(core.DataLoss, "%s", msg))
		if len(b) > 4+maxStatus {
			t.Fatalf("a status takes %d bytes", len(b))
		}
		err, bad := parseStatus(b)
		if bad != nil || core.CodeOf(err) != core.DataLoss {
			t.Errorf("%.10q arrives as %v, %v", msg, err, bad)
		}
	}
	for _, code := range []core.Code{core.OK, 17, -1} { // which no error has
		if err, _ := parseStatus(appendStatus(nil, &core.Error{Code: code, Msg: "m"})); core.CodeOf(err) != core.Unknown {
			t.Errorf("an error with code %d arrives as %v", code, err)
		}
	}
}

func FuzzMessage(f *testing.F) {
	for _, m := range messages {
		b := make([]byte, messageSize)
		f.Add(b[:m.put(b)])
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		m, err := parseMessage(b)
		if err != nil {
			return
		}
		again := make([]byte, messageSize)
		if len(m.meta.shape) > maxRank {
			t.Fatalf("rank %d", len(m.meta.shape))
		}
		back, err := parseMessage(again[:m.put(again)])
		if d := cmp.Diff(m, back, fields); err != nil || d != "" {
			t.Errorf("%v: a message changes when it is sent on (-got +again):\n%s", err, d)
		}
	})
}
