package remote

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/pb"
	"github.com/gorge-tf/gorge/tf/session"
)

// held is a master that gets calls and answers none, as a stopped process does.
type held struct{ Master }

func (held) CloseSession(ctx context.Context, _ *pb.CloseSessionRequest) (*pb.CloseSessionResponse, error) {
	<-ctx.Done()
	return nil, tf.AsError(ctx.Err())
}

// TestCloseOfHeldMaster: Close waits for a master that does not answer as long as the
// session's limit says, and is no error.
func TestCloseOfHeldMaster(t *testing.T) {
	for limit, most := range map[time.Duration]time.Duration{0: 2 * time.Second, time.Second: time.Second, time.Hour: 2 * time.Second, time.Nanosecond: time.Second} {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithCancelCause(context.Background())
			r := &remote{cfg: session.Config{Timeout: limit}, master: held{}, ctx: ctx, cancel: cancel, handle: "a"}
			begun := time.Now()
			if err := r.Close(); err != nil {
				t.Error(err)
			}
			if took := time.Since(begun); took > most || took < time.Millisecond {
				t.Errorf("with a limit of %v Close takes %v of virtual time, want at most %v", limit, took, most)
			}
		})
	}
}
