package serving

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/gorge-tf/gorge/internal/serving/batch"
	"github.com/gorge-tf/gorge/internal/serving/lifecycle"
	"github.com/gorge-tf/gorge/internal/serving/versions"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

// A Server serves models. All methods may be called from any goroutine.
type Server struct {
	cfg   Config
	m     *lifecycle.Manager[*servable]
	ended context.Context // by Close
	stop  context.CancelFunc
	tasks sync.WaitGroup
	slots chan struct{} // one for each request under way; nil: there is no bound
	logs  *requestLogs
	// threads run the batches of all models.
	threads *batch.Threads

	// reloading is held while models are replaced, looking while directories are
	// read: reloading before looking before mu.
	reloading sync.Mutex
	looking   sync.Mutex
	noted     map[string]string // what has been logged of directories; looking guards it

	mu     sync.RWMutex
	models map[string]*Model
}

type handle = lifecycle.Handle[*servable]

// New returns a server that begins to load its models. Ready waits for them, Close
// ends the server. Errors are InvalidArgument.
func New(cfg Config) (*Server, error) {
	cfg = cfg.withDefaults()
	cfg.Models = own(cfg.Models)
	if err := check(cfg.Models); err != nil {
		return nil, err
	}
	if cfg.Batching != nil {
		if err := cfg.Batching.Check(); err != nil {
			return nil, err
		}
	}
	ctx, stop := context.WithCancel(context.Background())
	s := &Server{cfg: cfg, ended: ctx, stop: stop, noted: map[string]string{}, models: byName(cfg.Models), logs: newRequestLogs(cfg.Log)}
	s.m = lifecycle.New(lifecycle.Config[*servable]{
		Load: s.load, Loads: cfg.Loads, Retries: cfg.LoadRetries, Interval: cfg.RetryInterval, Log: cfg.Log, Freed: debug.FreeOSMemory,
	})
	if cfg.Batching != nil {
		s.threads = batch.NewThreads(cfg.Batching.Threads)
	}
	if cfg.MaxRequests > 0 {
		s.slots = make(chan struct{}, cfg.MaxRequests)
	}
	s.look()
	if cfg.Poll > 0 {
		s.tasks.Go(func() { s.poll(ctx) })
	}
	return s, nil
}

// own returns models as they are now: the caller may change its own ones.
func own(models []Model) []Model {
	models = slices.Clone(models)
	for i := range models {
		m := &models[i]
		m.Labels, m.Versions.Specific = maps.Clone(m.Labels), slices.Clone(m.Versions.Specific)
	}
	return models
}

func byName(models []Model) map[string]*Model {
	out := map[string]*Model{}
	for i := range models {
		out[models[i].Name] = &models[i]
	}
	return out
}

// Close unloads all models. Requests under way are answered first, new ones find no
// model.
func (s *Server) Close() {
	s.stop()
	s.tasks.Wait()
	s.m.Close()
	s.logs.close()
}

// list returns the models, sorted by name.
func (s *Server) list() []*Model {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return slices.SortedFunc(maps.Values(s.models), func(a, b *Model) int { return strings.Compare(a.Name, b.Name) })
}

// model returns the configuration of a model, nil if there is none.
func (s *Server) model(name string) *Model {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.models[name]
}

// count tells the metrics of a request. Clients choose the names that they ask for, and
// must not be able to make metrics of them.
func (s *Server) count(model, api, entrypoint string, err error, start time.Time) {
	if s.model(model) == nil {
		model = ""
	}
	s.cfg.Metrics.Request(model, api, entrypoint, tf.CodeOf(err), time.Since(start))
}

// Ready returns nil when every model has a version that is available, and an error
// of code Unknown when loading one has failed for good. It waits for models that
// have no versions until ctx ends; after Close the error is FailedPrecondition.
func (s *Server) Ready(ctx context.Context) error {
	if err := core.NeedContext(ctx, "Ready"); err != nil {
		return err
	}
	var names []string
	models := s.list()
	for _, m := range models {
		names = append(names, m.Name)
	}
	if err := s.await(ctx, names, models, func(string) bool { return true }); err != nil {
		return err
	}
	return s.checkLabels(s.list())
}

// Available returns nil if every model has a version that is available now, else an
// error of code Unavailable that names those that have none.
func (s *Server) Available() error { return s.available("") }

// available is Available for one model, or all.
func (s *Server) available(name string) error {
	var missing []string
	for _, m := range s.list() {
		if name != "" && m.Name != name {
			continue
		}
		if v := s.m.Latest(m.Name); v != nil {
			v.Release()
		} else {
			missing = append(missing, m.Name)
		}
	}
	if missing == nil {
		return nil
	}
	return tf.Errorf(tf.Unavailable, "models without available version: %s", strings.Join(missing, ", "))
}

// waiting is err, which ended a wait, with the models that had no version and where theirs are.
func (s *Server) waiting(names []string, err error) error {
	e := *tf.AsError(err)
	var missing []string
	for _, n := range names {
		if m := s.model(n); m != nil && s.settled(n) == nil {
			missing = append(missing, fmt.Sprintf("%s (of %s)", n, m.BasePath))
		}
	}
	if missing != nil {
		e.Msg = e.Message() + ": models without available version: " + strings.Join(missing, ", ")
	}
	return &e
}

// await waits until each model that is there still has a version that is available, or has none that
// might become so, or is not expected to get one, and until no version that gets a label is to be loaded.
func (s *Server) await(ctx context.Context, names []string, labels []*Model, expected func(name string) bool) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(s.ended, cancel)()
	err := s.m.Wait(ctx, func() bool {
		return !slices.ContainsFunc(names, func(n string) bool { return s.model(n) != nil && s.settled(n) == nil && expected(n) }) && !slices.ContainsFunc(labels, s.loadsLabeled)
	})
	switch {
	case s.ended.Err() != nil:
		return errClosed
	case err != nil:
		return s.waiting(names, err)
	}
	return s.unavailable(names)
}

var errClosed = tf.Errorf(tf.FailedPrecondition, "the server must not have been closed")

// settled returns the versions of a model if it is known how loading them went,
// else nil.
func (s *Server) settled(name string) []versions.Status {
	status := s.m.Status(name)
	ended, failed := true, false // versions that another model of the name has had may have ended without fault
	for _, v := range status {
		if v.State == versions.Available {
			return status
		}
		ended = ended && v.State == versions.End
		failed = failed || v.Err != nil
	}
	if !ended || !failed {
		return nil
	}
	return status
}

// loadsLabeled reports whether a version that has a label is being loaded, or will be when
// requests that still hold it have ended.
func (s *Server) loadsLabeled(m *Model) bool {
	labeled := slices.Collect(maps.Values(m.Labels))
	return slices.ContainsFunc(labeled, func(v int64) bool { return s.m.Coming(m.Name, v) })
}

// unavailable says which models have no version that is available, in TensorFlow
// Serving's words.
func (s *Server) unavailable(names []string) error {
	var faults []string
	for _, name := range names {
		status := s.m.Status(name)
		if s.model(name) == nil || slices.ContainsFunc(status, func(v versions.Status) bool { return v.State == versions.Available }) {
			continue
		}
		fault := fmt.Sprintf("{{name: %s}", name)
		if len(status) > 0 {
			fault = fmt.Sprintf("{{name: %s version: %d}", name, status[0].Number)
			if e := status[0].Err; e != nil {
				fault += " due to error: " + tf.CodeOf(e).String() + ": " + tf.AsError(e).Message()
			}
		}
		faults = append(faults, fault+"}, ")
	}
	if faults == nil {
		return nil
	}
	return tf.Errorf(tf.Unknown, "%d model(s) did not become available: {%s}", len(faults), strings.Join(faults, ""))
}

// Reload replaces the models: those that are not among them are unloaded. It
// returns when every new model has a version that is available; an error of code
// Unknown says which has none. Labels must be of versions that are available, else
// they stay as they were, and the error is FailedPrecondition. An error that wraps
// [ErrIncomplete] is of models that have been replaced all the same.
func (s *Server) Reload(ctx context.Context, models []Model) error {
	if err := core.NeedContext(ctx, "Reload"); err != nil {
		return err
	}
	models = own(models)
	if err := check(models); err != nil {
		return err
	}
	s.reloading.Lock()
	defer s.reloading.Unlock()
	if s.ended.Err() != nil {
		return errClosed
	}
	if err := ctx.Err(); err != nil { // the client has gone while others had their turn
		return tf.AsError(err)
	}
	fresh, labels := s.replace(models)
	if err := s.settle(ctx, fresh, labels); err != nil {
		e := *tf.AsError(err)
		e.Err = errors.Join(ErrIncomplete, err)
		return &e
	}
	return nil
}

// ErrIncomplete is in the error of [Server.Reload] if the models are those that were given,
// but not all of them are served, or have their labels.
var ErrIncomplete = errors.New("serving: the models are replaced, but not all of them are served as they should be")

// settle waits for models that are new, and sets labels.
func (s *Server) settle(ctx context.Context, fresh []string, labels []*Model) error {
	s.look()
	for _, name := range fresh {
		if !s.m.Wants(name) {
			if err := s.unavailable(fresh); err != nil {
				return err
			}
		}
	}
	if err := s.await(ctx, fresh, labels, s.m.Wants); err != nil { // a version that goes meanwhile is not waited for
		return err
	}
	if err := s.checkLabels(labels); err != nil {
		return err
	}
	s.setLabels(labels)
	return nil
}

// replace makes the models those that are given, without changing labels, and
// returns the names of new ones and the models with their labels.
func (s *Server) replace(models []Model) (fresh []string, labels []*Model) {
	s.mu.Lock()
	before := s.models
	s.models = map[string]*Model{}
	for i := range models {
		m := models[i]
		labels = append(labels, &models[i])
		if old := before[m.Name]; old == nil {
			fresh = append(fresh, m.Name)
			m.Labels = nil
		} else {
			m.Labels = old.Labels
		}
		s.models[m.Name] = &m
	}
	gone := slices.DeleteFunc(slices.Collect(maps.Keys(before)), func(n string) bool { return s.models[n] != nil })
	s.mu.Unlock()
	s.looking.Lock()
	defer s.looking.Unlock()
	for _, name := range gone {
		s.m.Aspire(name, nil)
	}
	return fresh, labels
}

// checkLabels refuses labels of versions that are not available. With AnyLabel only
// those are refused that are available for now and would move to one that is not.
func (s *Server) checkLabels(models []*Model) error {
	for _, m := range models {
		now := s.model(m.Name)
		if now == nil {
			continue // it has gone meanwhile
		}
		for label, v := range m.Labels {
			if h := s.m.At(m.Name, v); h != nil {
				h.Release()
				continue
			}
			if old, ok := now.Labels[label]; s.cfg.AnyLabel && (!ok || old == v) {
				continue
			}
			return tf.Errorf(tf.FailedPrecondition, "Request to assign label to version %d of model %s, which is not currently available for inference", v, m.Name)
		}
	}
	return nil
}

func (s *Server) setLabels(models []*Model) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, m := range models {
		if now := s.models[m.Name]; now != nil {
			changed := *now
			changed.Labels = m.Labels
			s.models[m.Name] = &changed
		}
	}
}
