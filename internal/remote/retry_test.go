package remote

import (
	"context"
	"testing"
	"testing/synctest"

	"github.com/gorge-tf/gorge/internal/requestid"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/pb"
	"github.com/gorge-tf/gorge/tf/session"
)

// losing is a master whose answer to the first call is lost with the connection.
type losing struct {
	Master
	seen   *requestid.Recent
	inBody bool // errors come in the answer
	calls  int
}

func (l *losing) RunStep(_ context.Context, req *pb.RunStepRequest) (*pb.RunStepResponse, error) {
	l.calls++
	err := l.seen.Track(req.GetRequestId(), "RunStep (Master)")
	switch {
	case l.calls == 1:
		return nil, tf.Errorf(tf.Unavailable, "connection reset by peer")
	case l.inBody:
		e := tf.AsError(err)
		return &pb.RunStepResponse{StatusCode: pb.Code(e.Code), StatusErrorMessage: e.Message()}, nil
	}
	return nil, err
}

// TestLostAnswer: a step whose answer was lost is not run again, and the error says that
// the connection was lost, not only that a server has had a request twice.
func TestLostAnswer(t *testing.T) {
	for _, inBody := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			r := &remote{master: &losing{seen: requestid.NewRecent(4), inBody: inBody}}
			_, err := r.runStep(t.Context(), "a", "", &session.Call{})
			e := tf.AsError(err)
			const want = "the server had the request when the connection was lost, and runs none twice: connection reset by peer: The same RunStep (Master) request was received twice."
			if e == nil || e.Code != tf.Aborted || len(e.Msg) < len(want) || e.Msg[:len(want)] != want {
				t.Errorf("errors in the answer: %v: got %v, want ABORTED: %s…", inBody, err, want)
			}
		})
	}
}
