package pb

import (
	"testing"

	"google.golang.org/protobuf/proto"
)

// TestSessionOfRequests: the session of a request is found by its field alone.
func TestSessionOfRequests(t *testing.T) {
	req := &CompleteGroupRequest{GroupKey: 5, DeviceType: "CPU"}
	if h := SessionOf(req); h != "" {
		t.Errorf("a request of no session is of %q", h)
	}
	SetSession(req, "00ff")
	b, err := proto.Marshal(req)
	if err != nil {
		t.Fatal(err)
	}
	got := &CompleteGroupRequest{}
	if err := proto.Unmarshal(b, got); err != nil || SessionOf(got) != "00ff" || got.GetGroupKey() != 5 {
		t.Errorf("%v is of session %q, %v", got, SessionOf(got), err)
	}
	got.ProtoReflect().SetUnknown(nil)
	if want := (&CompleteGroupRequest{GroupKey: 5, DeviceType: "CPU"}); !proto.Equal(got, want) {
		t.Errorf("without the session the request is %v, want %v", got, want)
	}
}

// Whatever else a request brings along, it is of the session set last; and
// looking for a session in what is no message does not fail.
func FuzzSessionOf(f *testing.F) {
	req := &RecvBufRequest{StepId: 1}
	SetSession(req, "a")
	SetSession(req, "b")
	b, err := proto.Marshal(req)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(b)
	f.Add([]byte{0x8a, 0xb5, 0x18})
	f.Fuzz(func(t *testing.T, b []byte) {
		req := &RecvBufRequest{}
		if proto.Unmarshal(b, req) != nil {
			req.ProtoReflect().SetUnknown(b)
			SessionOf(req)
			return
		}
		if SetSession(req, "mine"); SessionOf(req) != "mine" {
			t.Errorf("the session of % x is %q", b, SessionOf(req))
		}
	})
}
