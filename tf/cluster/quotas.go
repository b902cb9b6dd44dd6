package cluster

import (
	"cmp"

	"github.com/gorge-tf/gorge/internal/rpc"
	"github.com/gorge-tf/gorge/tf"
)

// Quotas bound what the clients and peers of a server may take together. What is
// beyond a bound ends with ResourceExhausted and the bound's name. A field that is 0
// means the default, a negative one that there is no bound.
type Quotas struct {
	// Sessions may be open at the master at once; 0: 10,000. Eager contexts are
	// counted by themselves, to the same number.
	Sessions int
	// Steps may be under way at the master at once, pieces of partial steps among
	// them; 0: 10,000.
	Steps int
	// Connections may be open at once, those of gRPC and links; 0: 10,000.
	Connections int
	// Streams, which are calls, may be under way on one connection at once; 0:
	// 250,000.
	Streams int
	// Queued is how many bytes of answers may wait for a peer that does not take
	// them, on one link, before nothing more is read from it; 0: 256 MiB.
	Queued int64
}

// The defaults are far beyond what programs need that mean well.
const (
	defaultSessions    = 10_000
	defaultSteps       = 10_000
	defaultConnections = 10_000
	defaultStreams     = 250_000
	defaultQueued      = 256 << 20
)

// bound returns a quota as what it goes to understands it: 0 is none.
func bound[T int | int64](v, standard T) T { return max(0, cmp.Or(v, standard)) }

func (q *Quotas) sessions() int { return bound(q.Sessions, defaultSessions) }

func (q *Quotas) steps() int { return bound(q.Steps, defaultSteps) }

func (q *Quotas) transport() rpc.Limits {
	return rpc.Limits{Connections: bound(q.Connections, defaultConnections), Streams: uint32(bound(q.Streams, defaultStreams)), Queued: bound(q.Queued, defaultQueued)}
}

func (q *Quotas) check() error {
	if q.Streams > 1<<31-1 {
		return tf.Errorf(tf.InvalidArgument, "streams of a connection must be fewer than 2^31, got %d", q.Streams)
	}
	return nil
}
