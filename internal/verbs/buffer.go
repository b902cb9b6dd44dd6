package verbs

import (
	"context"
	"encoding/base64"
	"errors"
	"strings"
	"sync"

	"google.golang.org/protobuf/proto"

	"github.com/gorge-tf/gorge/internal/memory"
	"github.com/gorge-tf/gorge/internal/rendezvous"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/pb"
)

// Values of collective operations cross as tensors do, written straight to where
// the operation wants them. The receiver knows their size, so that there is room from
// the start. TensorFlow's tasks do not know of that: its collective operations
// stay with gRPC.

// bufferPrefix begins the key of such a value. No rendezvous key begins so: they
// begin with a device.
const bufferPrefix = "gorge-buffer:"

// ErrPlain is in the error of RecvBuf if the peer has to be asked by other means.
var ErrPlain = errors.New("the peer does not send buffers by RDMA")

// RecvBuf fills into with a task's value of a collective operation. No write to
// into is in progress once RecvBuf has returned. If ctx ends during a peer's RDMA
// write, RecvBuf therefore waits until that write has completed.
func (m *Manager) RecvBuf(ctx context.Context, task string, req *pb.RecvBufRequest, into []byte) error {
	if m.plain.has(task) {
		return ErrPlain
	}
	key, err := bufferKey(req)
	if err != nil {
		return err
	}
	c, err := m.channel(task)
	if err != nil {
		return err
	}
	b := &bufferRoom{into: into}
	got := make(chan rendezvous.Result, 1)
	r := &request{key: key, step: req.GetStepId(), alloc: b.alloc, done: func(r rendezvous.Result) { got <- r }, extension: true}
	c.start(ctx, r, metaData{dtype: core.Uint8, shape: core.Shape{len(into)}, bytes: len(into)}, true)
	res := <-got
	if res.Tensor != nil {
		res.Tensor.Release()
	}
	b.users.Wait()
	if errors.Is(res.Err, errNoVerbs) {
		m.plain.add(task)
		return ErrPlain
	}
	if res.Err == nil && res.Dead {
		return core.Errorf(core.Internal, "%s sends a dead value to a collective operation", task)
	}
	return res.Err
}

// bufferKey is what a value is asked for by: the request itself.
func bufferKey(req *pb.RecvBufRequest) (string, error) {
	short := &pb.RecvBufRequest{
		StepId: req.GetStepId(), BufRendezvousKey: req.GetBufRendezvousKey(), NumBytes: req.GetNumBytes(),
		SrcDevice: req.GetSrcDevice(), SrcIncarnation: req.GetSrcIncarnation(), DstDevice: req.GetDstDevice(),
	}
	b, err := proto.Marshal(short)
	if err != nil {
		return "", core.Errorf(core.InvalidArgument, "a buffer's request cannot be encoded: %v", err)
	}
	key := bufferPrefix + base64.RawURLEncoding.EncodeToString(b)
	if len(key) > maxLongKey {
		return "", ErrPlain
	}
	return key, nil
}

// ParseBufferKey returns the request that a key stands for, nil for the keys of
// rendezvous.
func ParseBufferKey(key string) (*pb.RecvBufRequest, error) {
	text, ok := strings.CutPrefix(key, bufferPrefix)
	if !ok {
		return nil, nil
	}
	b, err := base64.RawURLEncoding.DecodeString(text)
	req := &pb.RecvBufRequest{}
	if err == nil {
		err = proto.Unmarshal(b, req)
	}
	if err != nil {
		return nil, core.Errorf(core.InvalidArgument, "the key of a buffer must hold a RecvBufRequest: %v", err)
	}
	return req, nil
}

// A bufferRoom lends memory of its caller's, and knows when it is given
// back.
type bufferRoom struct {
	into  []byte
	users sync.WaitGroup
}

func (b *bufferRoom) alloc(d core.DType, s core.Shape) (*memory.Buffer, error) {
	if d != core.Uint8 || len(s) != 1 || s[0] != len(b.into) {
		return nil, core.Errorf(core.Internal, "a collective operation expects %d bytes, it is sent %v%v", len(b.into), d, s)
	}
	b.users.Add(1)
	return memory.Adopt(b.into, b.users.Done), nil
}
