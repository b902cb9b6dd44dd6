package serving

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"

	"github.com/gorge-tf/gorge/internal/serving/batch"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/pb/servingpb"
	"github.com/gorge-tf/gorge/tf/savedmodel"
)

// Batching says how requests are joined. Requests for the same outputs of the same
// signature are joined on dimension 0 if their tensors agree in all others.
// Requests whose inputs have no common dimension 0 run by themselves.
//
// The zero value is adaptive: a request that comes when little is under way runs at
// once, and those that come while much is under way run together next. Its fields are
//
//	MaxSize    int           // rows of a request and of a batch at most; 0: 1000
//	Timeout    time.Duration // how long the first request of a batch waits for others while another batch could run; 0: not at all
//	MaxBatches int           // what waits at most, in batches of the largest size; 0: 10. Requests above it fail with Unavailable
//	Threads    int           // batches that run at once, of all models of a server; 0: one for each CPU
//	Sizes      []int         // sizes that batches are rounded up to, increasing, the largest last; nil: every size
//	Pad        bool          // tensors that differ in other dimensions than the first get zeros at the ends
//	Split      bool          // a request may be run in several batches
//	MaxRun     int           // rows of such batches at most; 0: MaxSize
type Batching = batch.Params

// ParseBatching reads the text of a batching parameters file. Errors are
// InvalidArgument.
func ParseBatching(text []byte) (*Batching, error) {
	p := &servingpb.BatchingParameters{}
	if err := ParseText(text, p); err != nil {
		return nil, err
	}
	b, err := batch.FromProto(p)
	if err != nil {
		return nil, err
	}
	return b, nil
}

// perModelFile has the parameters of one version.
const perModelFile = "batching_params.pbtxt"

// batchingOf returns the parameters for a version, nil if its requests are not
// joined.
func (s *Server) batchingOf(m *savedmodel.Model) (*Batching, error) {
	if s.cfg.Batching == nil || !s.cfg.ModelBatching {
		return s.cfg.Batching, nil
	}
	name := filepath.Join(m.Dir(), perModelFile)
	text, err := core.ReadRegular(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return s.cfg.Batching, nil
	case err != nil:
		return nil, err
	}
	b, err := ParseBatching(text)
	if err != nil {
		return nil, tf.Errorf(tf.CodeOf(err), "%s: %s", name, tf.AsError(err).Message())
	}
	return b, nil
}

// A batcher joins the requests of a signature.
type batcher struct {
	q *batch.Queue
}

func newBatcher(v *servable, s *signature, threads *batch.Threads, p *Batching) *batcher {
	return &batcher{q: batch.NewQueue(threads, *p, func(ctx context.Context, in map[string]*tf.Tensor, want []string) (map[string]*tf.Tensor, error) {
		return s.sig.RunTensors(ctx, in, want...)
	}, func(size, requests int) { v.metrics.Batch(v.id.Name, size, requests) })}
}

func (b *batcher) run(ctx context.Context, in map[string]*tf.Tensor, want []string) (map[string]*tf.Tensor, error) {
	return b.q.Run(ctx, in, want)
}

func (b *batcher) close() { b.q.Close() }
