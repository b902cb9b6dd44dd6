package rendezvous

import (
	"context"

	"github.com/gorge-tf/gorge/internal/memory"
	"github.com/gorge-tf/gorge/tf/core"
)

// A Transport fetches what other tasks of the cluster send. It is safe for
// concurrent use.
type Transport interface {
	// Recv asks task for the value that it sends under key in the given step,
	// and calls done once: with the value, or with why there is none. It does
	// not wait; done may be called from any goroutine, also before Recv
	// returns.
	//
	// The elements of a plain tensor go to memory that alloc returns. The
	// transport calls alloc as soon as it knows dtype and shape, again if
	// they turn out different, and owns what it got until the tensor over it
	// is given to done. It may still write there after ctx has ended, but
	// then it keeps the memory referenced until it stops.
	//
	// When ctx ends, done is called soon, with an error if no value came.
	Recv(ctx context.Context, task string, step int64, key string, alloc Alloc, done func(Result))
}

// Alloc returns memory for a tensor of the given type and shape, which its
// caller owns.
type Alloc func(d core.DType, s core.Shape) (*memory.Buffer, error)

// A Result is what a receive from another task gave.
type Result struct {
	Tensor *core.Tensor // owned by the receiver of the Result; nil if Dead or Err
	Dead   bool
	Err    error
}

// Allocate is the Alloc that gives ordinary memory.
func Allocate(d core.DType, s core.Shape) (*memory.Buffer, error) {
	if err := core.CheckSize(d, s); err != nil {
		return nil, err
	}
	return memory.New(s.NumElements() * d.Size()), nil
}
