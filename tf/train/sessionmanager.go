package train

import (
	"context"
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/session"
)

// A SessionManager makes sessions that are ready to train: it restores variables
// from the latest checkpoint, or initializes them, or waits until another process
// has done so.
type SessionManager struct {
	Graph *tf.Graph
	// Options are those of all sessions it makes: session.Target among them.
	Options []session.Option
	// LocalInitOp is run in every session, once what ReadyForLocalInitOp returns is
	// empty; nil: there is nothing to run.
	LocalInitOp         *tf.Operation
	LocalInitFeeds      session.Feeds
	ReadyForLocalInitOp tf.Output
	// ReadyOp returns what is not ready yet, a string vector; none: everything
	// is.
	ReadyOp tf.Output
	// RecoveryWait is the time between two looks at whether a model is ready; 0: 30
	// seconds.
	RecoveryWait time.Duration
}

// PrepareOptions say how PrepareSession and RecoverSession find the values of
// variables.
type PrepareOptions struct {
	// InitOp and then InitFn are run if nothing is restored. PrepareSession only.
	InitOp    *tf.Operation
	InitFeeds session.Feeds
	InitFn    func(ctx context.Context, s *session.Session) error
	// Saver restores the latest checkpoint of CheckpointDir, or CheckpointPath. If files of
	// the latest one are missing, cut off, unreadable or fail their checksums, the one
	// before it is restored, and so on; the log says what was skipped. No other failure is
	// passed over: not a mismatch of the graph, nor damage to CheckpointPath.
	Saver          *Saver
	CheckpointDir  string
	CheckpointPath string
	// WaitForCheckpoint waits for a checkpoint in CheckpointDir, MaxWait at most
	// (0: two hours).
	WaitForCheckpoint bool
	MaxWait           time.Duration
}

func (m *SessionManager) check() error {
	if m.Graph == nil {
		return tf.Errorf(tf.InvalidArgument, "a SessionManager needs a graph, got nil")
	}
	if !m.ReadyForLocalInitOp.IsZero() && m.LocalInitOp == nil {
		return tf.Errorf(tf.InvalidArgument, "If you pass a ready_for_local_init_op you must also pass a local_init_op , ready_for_local_init_op [%s]", m.ReadyForLocalInitOp.Name())
	}
	return nil
}

func (m *SessionManager) wait() time.Duration {
	if m.RecoveryWait > 0 {
		return m.RecoveryWait
	}
	return 30 * time.Second
}

// PrepareSession returns a session whose variables are restored, or initialized
// if there is no checkpoint.
func (m *SessionManager) PrepareSession(ctx context.Context, o PrepareOptions) (*session.Session, error) {
	if err := core.NeedContext(ctx, "PrepareSession"); err != nil {
		return nil, err
	}
	s, restored, err := m.restored(ctx, &o)
	if err != nil {
		return nil, err
	}
	if err := m.prepare(ctx, s, &o, restored); err != nil {
		_ = s.Close()
		return nil, err
	}
	return s, nil
}

func (m *SessionManager) prepare(ctx context.Context, s *session.Session, o *PrepareOptions, restored bool) error {
	if !restored {
		if err := m.initialize(ctx, s, o); err != nil {
			return err
		}
	}
	missing, err := m.localInit(ctx, s)
	if err != nil {
		return err
	}
	if missing != "" {
		return tf.Errorf(tf.FailedPrecondition, "Init operations did not make model ready for local_init.  Init op: %s, init fn: %v, error: %s", nameOf(o.InitOp), o.InitFn != nil, missing)
	}
	missing, err = ready(ctx, s, m.ReadyOp)
	if err == nil && missing != "" {
		err = tf.Errorf(tf.FailedPrecondition, "Init operations did not make model ready.  Init op: %s, init fn: %v, local_init_op: %s, error: %s",
			nameOf(o.InitOp), o.InitFn != nil, nameOf(m.LocalInitOp), missing)
	}
	return err
}

func (m *SessionManager) initialize(ctx context.Context, s *session.Session, o *PrepareOptions) error {
	if o.InitOp == nil && o.InitFn == nil && m.LocalInitOp == nil {
		return tf.Errorf(tf.FailedPrecondition, "Model is not initialized and no init_op or init_fn or local_init_op was given")
	}
	if o.InitOp != nil {
		if _, err := s.Run(ctx, o.InitFeeds, o.InitOp); err != nil {
			return err
		}
	}
	if o.InitFn != nil {
		return o.InitFn(ctx, s)
	}
	return nil
}

// RecoverSession returns a session, and whether its variables are restored and
// the model is ready.
func (m *SessionManager) RecoverSession(ctx context.Context, o PrepareOptions) (*session.Session, bool, error) {
	if err := core.NeedContext(ctx, "RecoverSession"); err != nil {
		return nil, false, err
	}
	s, restored, err := m.restored(ctx, &o)
	if err != nil {
		return nil, false, err
	}
	missing, err := m.localInit(ctx, s)
	if err == nil && restored && missing == "" {
		missing, err = ready(ctx, s, m.ReadyOp)
	}
	if err != nil {
		_ = s.Close()
		return nil, false, err
	}
	if restored && missing != "" {
		slog.Info("restoring did not make the model ready", "from", o.CheckpointDir+o.CheckpointPath, "missing", missing)
	}
	return s, restored && missing == "", nil
}

// restored returns a new session and whether its variables have been restored.
func (m *SessionManager) restored(ctx context.Context, o *PrepareOptions) (*session.Session, bool, error) {
	if err := m.check(); err != nil {
		return nil, false, err
	}
	if o.CheckpointDir != "" && o.CheckpointPath != "" {
		return nil, false, tf.Errorf(tf.InvalidArgument, "Can not provide both checkpoint_dir and checkpoint_filename_with_path.")
	}
	s, err := session.New(m.Graph, m.Options...)
	if err != nil {
		return nil, false, err
	}
	found, err := m.restore(ctx, s, o)
	if err != nil {
		_ = s.Close()
		return nil, false, err
	}
	return s, found, nil
}

func (m *SessionManager) restore(ctx context.Context, s *session.Session, o *PrepareOptions) (bool, error) {
	if o.Saver == nil || o.CheckpointDir == "" && o.CheckpointPath == "" {
		return false, nil
	}
	if o.CheckpointPath != "" {
		return true, o.Saver.Restore(ctx, s, o.CheckpointPath)
	}
	state, err := m.awaitCheckpoint(ctx, o)
	if err != nil || state == nil {
		return false, err
	}
	return true, restoreGood(ctx, s, o.Saver, state)
}

// restoreGood restores the latest checkpoint whose files are whole. A damaged one is
// skipped, and the log says so; it is the first that the saver will delete. A whole one
// that does not fit the graph ends the search with its error: what came before it is
// not what the program asks for.
func restoreGood(ctx context.Context, s *session.Session, saver *Saver, state *CheckpointState) error {
	var skipped []string
	var first error
	for _, path := range state.newestFirst() {
		err := saver.Restore(ctx, s, path)
		if err == nil {
			if len(skipped) > 0 {
				slog.Warn("an earlier checkpoint was restored, since those after it are damaged", "restored", path, "skipped", skipped)
			}
			saver.RecoverLastCheckpoints(append(skipped, without(state.All, skipped)...))
			return nil
		}
		broken := damage(path, err)
		if broken == nil {
			return err
		}
		slog.Warn("a checkpoint is damaged and is skipped", "checkpoint", path, "error", broken)
		if skipped = append(skipped, path); first == nil {
			first = err
		}
	}
	return first
}

// without returns all but some names.
func without(all, some []string) (out []string) {
	for _, name := range all {
		if !slices.Contains(some, name) {
			out = append(out, name)
		}
	}
	return out
}

// awaitCheckpoint returns what the state file says; nil if there is no
// checkpoint and none is to be waited for.
func (m *SessionManager) awaitCheckpoint(ctx context.Context, o *PrepareOptions) (*CheckpointState, error) {
	longest := o.MaxWait
	if longest <= 0 {
		longest = 2 * time.Hour
	}
	for end := time.Now().Add(longest); ; {
		state, err := ReadCheckpointState(o.CheckpointDir)
		if err != nil || state != nil || !o.WaitForCheckpoint || time.Now().After(end) {
			return state, err
		}
		slog.Info("Waiting for checkpoint to be available.")
		if !pause(ctx, m.wait()) {
			return nil, tf.AsError(context.Cause(ctx))
		}
	}
}

// WaitForSession returns a session once another process has made the model
// ready. It waits maxWait at most, without end if that is 0, and then fails with
// DeadlineExceeded.
func (m *SessionManager) WaitForSession(ctx context.Context, maxWait time.Duration) (*session.Session, error) {
	if err := core.NeedContext(ctx, "WaitForSession"); err != nil {
		return nil, err
	}
	if err := m.check(); err != nil {
		return nil, err
	}
	end := time.Now().Add(maxWait)
	for {
		s, missing, err := m.readySession(ctx)
		if err != nil || s != nil {
			return s, err
		}
		if maxWait > 0 && time.Now().Add(m.wait()).After(end) {
			return nil, tf.Errorf(tf.DeadlineExceeded, "Session was not ready after waiting %d secs.", int(maxWait.Seconds()))
		}
		slog.Info("Waiting for model to be ready.", "missing", missing)
		if !pause(ctx, m.wait()) {
			return nil, tf.AsError(context.Cause(ctx))
		}
	}
}

// readySession returns a session on a model that is ready, or what is missing.
func (m *SessionManager) readySession(ctx context.Context) (*session.Session, string, error) {
	s, err := session.New(m.Graph, m.Options...)
	if err != nil {
		return nil, "", err
	}
	missing, err := m.localInit(ctx, s)
	if err == nil && missing == "" {
		missing, err = ready(ctx, s, m.ReadyOp)
	}
	if err == nil && missing == "" {
		return s, "", nil
	}
	_ = s.Close()
	return nil, missing, err
}

// localInit runs the initialization of what each session has of its own, or
// returns why it cannot be run yet.
func (m *SessionManager) localInit(ctx context.Context, s *session.Session) (missing string, err error) {
	if m.LocalInitOp == nil {
		return "", nil
	}
	if missing, err = ready(ctx, s, m.ReadyForLocalInitOp); err != nil || missing != "" {
		return missing, err
	}
	_, err = s.Run(ctx, m.LocalInitFeeds, m.LocalInitOp)
	return "", err
}

// ready returns what report says is missing.
func ready(ctx context.Context, s *session.Session, report tf.Output) (missing string, err error) {
	if report.IsZero() {
		return "", nil
	}
	out, err := s.Run(ctx, nil, report)
	if err != nil {
		if msg := err.Error(); tf.CodeOf(err) == tf.FailedPrecondition && (strings.Contains(msg, "uninitialized") || strings.Contains(msg, "must be initialized")) {
			return msg, nil
		}
		return "", err
	}
	if out[0].DType() != tf.String || out[0].Len() == 0 {
		return "", nil
	}
	return "Variables not initialized: " + strings.Join(tf.Data[string](out[0]), ", "), nil
}
