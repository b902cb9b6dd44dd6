package worker

import (
	"context"
	"time"

	"github.com/gorge-tf/gorge/internal/rendezvous"
	"github.com/gorge-tf/gorge/internal/wire/pb"
	"github.com/gorge-tf/gorge/tf"
)

// Received is what a task gives to another one that asked for a tensor.
type Received struct {
	Tensor *tf.Tensor // owned by the caller, nil if Dead
	Dead   bool
	Start  time.Time // when the value was there
}

// RecvTensor waits for a value that a step here sends to another task.
func (w *Worker) RecvTensor(ctx context.Context, req *pb.RecvTensorRequest) (Received, error) {
	if err := w.recent.Track(req.GetRequestId(), "RecvTensor (GrpcWorker)"); err != nil {
		return Received{}, err
	}
	if err := w.checkSource(req.GetRendezvousKey()); err != nil {
		return Received{}, err
	}
	var v Received
	var err error
	got := make(chan struct{})
	w.env.Rendezvous.RecvLocal(ctx, req.GetStepId(), req.GetRendezvousKey(), func(t *tf.Tensor, dead bool, e error) {
		v, err = Received{Tensor: t, Dead: dead, Start: time.Now()}, e
		close(got)
	})
	<-got
	if err != nil {
		return Received{}, err
	}
	return v, nil
}

// checkSource finds out whether the device that a key names is here, and still
// the one that is meant.
func (w *Worker) checkSource(key string) error {
	k, err := rendezvous.ParseKey(key)
	if err != nil {
		return err
	}
	return rendezvous.CheckSource(k, w.env.Devices, w.env.Task)
}
