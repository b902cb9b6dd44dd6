// Package lifecycle loads and unloads versions of models as package versions
// decides, and lends them to requests. A version that a request holds stays until
// the request gives it back: no request fails because versions change.
package lifecycle

import (
	"context"
	"io"
	"log/slog"
	"sync"
	"time"

	"github.com/gorge-tf/gorge/internal/serving/versions"
	"github.com/gorge-tf/gorge/tf/core"
)

// An ID names a version of a model.
type ID struct {
	Name    string
	Version int64
}

// A Config says how versions are loaded.
type Config[M io.Closer] struct {
	// Load loads a version. It ends early if ctx does.
	Load func(ctx context.Context, id ID, path string) (M, error)
	// Loads is how many versions are loaded at once; 0: one.
	Loads int
	// Retries is how many times loading is tried again that has failed, each after
	// Interval.
	Retries  int
	Interval time.Duration
	// Freed is called when a version has been unloaded; it may be nil.
	Freed func()
	// Log hears of what happens to versions.
	Log *slog.Logger
}

// A Manager has the versions of all models. All methods may be called from any
// goroutine.
type Manager[M io.Closer] struct {
	cfg    Config[M]
	ctx    context.Context
	cancel context.CancelFunc
	slots  chan struct{} // one for each load under way
	work   sync.WaitGroup

	mu      sync.RWMutex
	models  map[string]*model[M]
	changed chan struct{} // closed when any version changes its state
	closed  bool
}

// model is one model; the manager's mu guards it.
type model[M io.Closer] struct {
	set     versions.Set
	live    map[int64]*Handle[M]
	latest  *Handle[M] // of live
	cancels map[int64]context.CancelFunc
}

// New returns a manager without models. Close ends it.
func New[M io.Closer](cfg Config[M]) *Manager[M] {
	ctx, cancel := context.WithCancel(context.Background())
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	return &Manager[M]{
		cfg: cfg, ctx: ctx, cancel: cancel, slots: make(chan struct{}, max(cfg.Loads, 1)),
		models: map[string]*model[M]{}, changed: make(chan struct{}),
	}
}

// Aspire says which versions of a model are wanted, and where they are.
func (m *Manager[M]) Aspire(name string, want map[int64]versions.Place) {
	m.mu.Lock()
	defer m.mu.Unlock()
	md := m.models[name]
	if m.closed {
		return
	}
	if md == nil && len(want) == 0 {
		m.tell()
		return
	}
	if md == nil {
		md = &model[M]{live: map[int64]*Handle[M]{}, cancels: map[int64]context.CancelFunc{}}
		m.models[name] = md
	}
	md.set.Aspire(want)
	m.step(name, md)
}

// step does what is to be done now. The caller holds mu.
func (m *Manager[M]) step(name string, md *model[M]) {
	for _, a := range md.set.Next() {
		switch a.Kind {
		case versions.Load, versions.Reload:
			ctx, cancel := context.WithCancel(m.ctx)
			md.cancels[a.Version] = cancel
			m.work.Go(func() { m.load(ctx, md, ID{name, a.Version}, a.Path) })
		case versions.Cancel:
			if cancel := md.cancels[a.Version]; cancel != nil {
				cancel()
			}
		case versions.Unload:
			h := md.live[a.Version]
			delete(md.live, a.Version)
			md.choose()
			m.work.Go(func() {
				m.free(h)
				m.unloaded(md, h.ID)
			})
		}
	}
	m.tell()
}

// tell wakes the goroutines in Wait, which then check their conditions. The caller holds mu.
func (m *Manager[M]) tell() {
	close(m.changed)
	m.changed = make(chan struct{})
}

// choose finds the latest version again.
func (md *model[M]) choose() {
	md.latest = nil
	for v, h := range md.live {
		if md.latest == nil || v > md.latest.ID.Version {
			md.latest = h
		}
	}
}

// load loads a version and says so. What there was of that version, if it is loaded
// again, answers requests until then, and stays if loading fails.
func (m *Manager[M]) load(ctx context.Context, md *model[M], id ID, path string) {
	got, err := m.attempt(ctx, id, path)
	m.mu.Lock()
	defer m.mu.Unlock()
	md.cancels[id.Version]()
	delete(md.cancels, id.Version)
	if err == nil {
		h := &Handle[M]{ID: id, Model: got, idle: make(chan struct{})}
		h.refs.Store(1)
		if old := md.live[id.Version]; old != nil {
			m.work.Go(func() { m.free(old) })
		}
		md.live[id.Version] = h
		md.choose()
		m.cfg.Log.Info("version is available", "model", id.Name, "version", id.Version)
	}
	md.set.Loaded(id.Version, err)
	m.step(id.Name, md)
}

// attempt tries to load a version, and again if that fails.
func (m *Manager[M]) attempt(ctx context.Context, id ID, path string) (got M, err error) {
	for try := 0; ; try++ {
		if got, err = m.once(ctx, id, path); err == nil {
			return got, nil
		}
		m.cfg.Log.Error("loading failed", "model", id.Name, "version", id.Version, "try", try+1, "error", err)
		if try >= m.cfg.Retries || !sleep(ctx, m.cfg.Interval) {
			return got, err
		}
	}
}

// once loads a version when it is its turn.
func (m *Manager[M]) once(ctx context.Context, id ID, path string) (got M, err error) {
	select {
	case m.slots <- struct{}{}:
		defer func() { <-m.slots }()
	case <-ctx.Done():
		return got, ctx.Err()
	}
	if err := ctx.Err(); err != nil {
		return got, err
	}
	m.cfg.Log.Info("version is being loaded", "model", id.Name, "version", id.Version, "path", path)
	defer core.Recover(&err, "loading a model")
	return m.cfg.Load(ctx, id, path)
}

// sleep waits, and reports whether it could wait to the end.
func sleep(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(max(d, 0))
	defer t.Stop()
	select {
	case <-t.C:
		return ctx.Err() == nil
	case <-ctx.Done():
		return false
	}
}

// free waits for the requests that hold a version and frees it.
func (m *Manager[M]) free(h *Handle[M]) {
	h.Release()
	<-h.idle
	if err := core.Guard("unloading a model", h.Model.Close); err != nil {
		m.cfg.Log.Error("unloading failed", "model", h.ID.Name, "version", h.ID.Version, "error", err)
	}
	var none M
	h.Model = none
	if m.cfg.Freed != nil {
		m.cfg.Freed()
	}
	m.cfg.Log.Info("version is unloaded", "model", h.ID.Name, "version", h.ID.Version)
}

// unloaded says that a version is gone.
func (m *Manager[M]) unloaded(md *model[M], id ID) {
	m.mu.Lock()
	defer m.mu.Unlock()
	md.set.Unloaded(id.Version)
	m.step(id.Name, md)
}

// Latest lends the highest version of a model, nil if none is available. The
// caller calls Release.
func (m *Manager[M]) Latest(name string) *Handle[M] {
	m.mu.RLock()
	defer m.mu.RUnlock()
	md := m.models[name]
	if md == nil || md.latest == nil {
		return nil
	}
	return md.latest.hold()
}

// LatestBut is Latest without regard to one version.
func (m *Manager[M]) LatestBut(name string, but int64) *Handle[M] {
	m.mu.RLock()
	defer m.mu.RUnlock()
	md := m.models[name]
	if md == nil {
		return nil
	}
	var best *Handle[M]
	for v, h := range md.live {
		if v != but && (best == nil || v > best.ID.Version) {
			best = h
		}
	}
	if best == nil {
		return nil
	}
	return best.hold()
}

// At is Latest for one version.
func (m *Manager[M]) At(name string, version int64) *Handle[M] {
	m.mu.RLock()
	defer m.mu.RUnlock()
	md := m.models[name]
	if md == nil || md.live[version] == nil {
		return nil
	}
	return md.live[version].hold()
}

// Status returns what there is to say of the versions of a model, the highest
// first.
func (m *Manager[M]) Status(name string) []versions.Status {
	m.mu.RLock()
	defer m.mu.RUnlock()
	if md := m.models[name]; md != nil {
		return md.set.Status()
	}
	return nil
}

// Wants reports whether any version of a model is wanted.
func (m *Manager[M]) Wants(name string) bool {
	m.mu.RLock()
	defer m.mu.RUnlock()
	md := m.models[name]
	return md != nil && md.set.Wants()
}

// Coming reports whether a version of a model is being loaded, or will be when it has been
// unloaded.
func (m *Manager[M]) Coming(name string, version int64) bool {
	m.mu.RLock()
	defer m.mu.RUnlock()
	md := m.models[name]
	return md != nil && md.set.Coming(version)
}

// Idle reports whether nothing is under way for a model: no version is being loaded,
// again or for the first time, or unloaded.
func (m *Manager[M]) Idle(name string) bool {
	m.mu.RLock()
	defer m.mu.RUnlock()
	md := m.models[name]
	return md == nil || md.set.Idle()
}

// Wait returns when f says so, which is asked whenever a version changes its
// state, or with the error of ctx.
func (m *Manager[M]) Wait(ctx context.Context, f func() bool) error {
	for {
		m.mu.RLock()
		changed := m.changed
		m.mu.RUnlock()
		if f() {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// Close gives up what is being loaded and unloads all versions once no request
// holds them.
func (m *Manager[M]) Close() {
	m.mu.Lock()
	m.closed = true
	m.cancel()
	for name, md := range m.models {
		md.set.Aspire(nil)
		m.step(name, md)
	}
	m.mu.Unlock()
	m.work.Wait()
}
