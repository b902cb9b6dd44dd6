package rpc

import (
	"context"
	"time"

	"github.com/gorge-tf/gorge/internal/rendezvous"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/pb"
)

// Steps is where RecvTensor finds what this task sends: a
// [rendezvous.Manager], or a worker that checks the key first.
type Steps interface {
	RecvLocal(ctx context.Context, step int64, key string, done rendezvous.Done)
}

// ServeRecv answers a RecvTensor call: it waits until the value has been sent,
// the step ends, or ctx does.
func ServeRecv(ctx context.Context, s Steps, req *pb.RecvTensorRequest) (*TensorResponse, error) {
	type outcome struct {
		resp *TensorResponse
		err  error
	}
	c := make(chan outcome, 1)
	s.RecvLocal(ctx, req.GetStepId(), req.GetRendezvousKey(), func(t *core.Tensor, dead bool, err error) {
		c <- outcome{&TensorResponse{Tensor: t, Dead: dead, SendStart: time.Now().UnixMicro()}, err}
	})
	o := <-c
	if o.err != nil {
		return nil, o.err
	}
	return o.resp, nil
}
