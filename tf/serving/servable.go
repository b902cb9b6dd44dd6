package serving

import (
	"context"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/gorge-tf/gorge/internal/serving/batch"
	"github.com/gorge-tf/gorge/internal/serving/lifecycle"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/pb"
	"github.com/gorge-tf/gorge/tf/savedmodel"
	"github.com/gorge-tf/gorge/tf/session"
)

// A servable is a version that has been loaded.
type servable struct {
	id         lifecycle.ID
	m          *savedmodel.Model
	signatures map[string]*signature
	metrics    Metrics

	mu    sync.Mutex
	multi map[string]*session.Callable // of several signatures at once, by their tensors
}

// A signature is one of a version, with what requests ask of it again and again.
type signature struct {
	name  string
	sig   *savedmodel.Signature
	def   *pb.SignatureDef
	specs map[string]savedmodel.TensorSpec // of inputs
	keys  []string                         // of inputs, sorted
	outs  []string                         // keys of outputs, sorted
	need  []string                         // of keys those without default
	batch *batcher                         // nil: requests run by themselves
}

// load loads a version, and lets it answer its warm-up requests.
func (s *Server) load(ctx context.Context, id lifecycle.ID, path string) (*servable, error) {
	m, err := s.read(ctx, id, path)
	if err != nil {
		return nil, err
	}
	v := &servable{id: id, m: m, signatures: map[string]*signature{}, metrics: s.cfg.Metrics, multi: map[string]*session.Callable{}}
	params, err := s.batchingOf(m)
	if err == nil {
		for _, name := range m.Signatures() {
			v.signatures[name] = v.newSignature(name, s.threads, params)
		}
		if err = s.prepare(ctx, v); err == nil {
			err = s.warmUp(ctx, v)
		}
	}
	if err != nil {
		v.Close()
		return nil, err
	}
	return v, nil
}

// read reads a model from where it is.
func (s *Server) read(ctx context.Context, id lifecycle.ID, path string) (*savedmodel.Model, error) {
	o := savedmodel.Options{Tags: s.cfg.Tags, Session: s.cfg.Session, NoFold: s.cfg.NoFold, NoFreeze: s.cfg.NoFreeze, Runs: s.cfg.Runs}
	if m := s.model(id.Name); m != nil && m.FS != nil {
		files, err := fs.Sub(m.FS, path)
		if err != nil {
			return nil, tf.Errorf(tf.InvalidArgument, "the base path must be one of the file system: %v", err)
		}
		return savedmodel.LoadFS(ctx, files, o)
	}
	return savedmodel.Load(ctx, path, o)
}

func (v *servable) newSignature(name string, threads *batch.Threads, params *Batching) *signature {
	s := &signature{name: name, sig: v.m.Signature(name), def: v.m.MetaGraph().GetSignatureDef()[name], specs: map[string]savedmodel.TensorSpec{}}
	for _, in := range s.sig.Inputs() {
		s.specs[in.Key] = in
		s.keys = append(s.keys, in.Key)
		if in.Default == nil {
			s.need = append(s.need, in.Key)
		}
	}
	for _, out := range s.sig.Outputs() {
		s.outs = append(s.outs, out.Key)
	}
	if params != nil {
		s.batch = newBatcher(v, s, threads, params)
	}
	return s
}

// Close frees the version. No request holds it any more.
func (v *servable) Close() error {
	for _, s := range v.signatures {
		if s.batch != nil {
			s.batch.close()
		}
	}
	return v.m.Close()
}

// run runs a signature, with other requests if it is batched.
func (s *signature) run(ctx context.Context, in map[string]*tf.Tensor, want []string) (map[string]*tf.Tensor, error) {
	if len(want) == 0 {
		want = s.outs
	}
	if s.batch != nil {
		return s.batch.run(ctx, in, want)
	}
	return s.sig.RunAnyShapes(ctx, in, want...) // TensorFlow Serving compares no shapes
}

// maxMulti bounds the steps of several signatures at once that a version keeps: clients
// choose signatures as they like. Beyond it each request prepares its step.
const maxMulti = 64

// callable returns the prepared step from some tensors of the graph to others, and what
// ends its use.
func (v *servable) callable(in, out []string) (c *session.Callable, done func(), err error) {
	key := strings.Join(in, "\x00") + "\x01" + strings.Join(out, "\x00")
	v.mu.Lock()
	defer v.mu.Unlock()
	if c := v.multi[key]; c != nil {
		return c, func() {}, nil
	}
	if c, err = v.makeCallable(in, out); err != nil {
		return nil, nil, err
	}
	if len(v.multi) >= maxMulti {
		return c, c.Release, nil
	}
	v.multi[key] = c
	return c, func() {}, nil
}

func (v *servable) makeCallable(in, out []string) (*session.Callable, error) {
	var feeds []tf.Output
	var fetches []tf.Fetchable
	for i, name := range slices.Concat(in, out) {
		x, err := v.m.Graph().Output(name)
		if err != nil {
			return nil, err
		}
		if i < len(in) {
			feeds = append(feeds, x)
		} else {
			fetches = append(fetches, x)
		}
	}
	return v.m.Session().MakeCallable(feeds, fetches...)
}

// sorted returns the keys of a map in order.
func sorted[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
