package train

import (
	"context"
	"sync"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/session"
)

// A StatefulInput is input that a program takes outside of the graph and that can
// go on from where it was: an Iterator of package data.
type StatefulInput interface {
	Save(ctx context.Context) ([]byte, error)
	Restore(ctx context.Context, state []byte) error
}

// An InputSaver keeps in checkpoints, with the model, how far input is: in a
// variable of the graph. A run that was killed then goes on with the elements that
// it would have had. Hook and Listener are given to the session that trains:
//
//	saver := train.NewInputSaver(g, "input", iterator)
//	s, err := train.MonitoredTrainingSession(ctx, g, train.TrainingOptions{
//		ChiefHooks: []train.Hook{saver.Hook()}, Listeners: []train.CheckpointSaverListener{saver.Listener()}, ...
//
// When a session is lost, the input too goes back to the last checkpoint. Take
// elements within RunStepFn therefore, so that a step that is repeated takes its
// own.
type InputSaver struct {
	input StatefulInput
	state *tf.Variable
	next  tf.Output // what the variable becomes
	keep  *tf.Operation

	mu    sync.Mutex
	known *session.Session // in which the input is where the variable says, or further
}

// NewInputSaver adds the variable of that name and returns the saver.
func NewInputSaver(g *tf.Graph, name string, input StatefulInput) *InputSaver {
	s := &InputSaver{input: input}
	if g == nil {
		g = tf.Failed(nil, "input_saver", noGraph("an input saver")).Graph()
	}
	g.Scope("", func() {
		s.state = tf.NewVariable(ops.Scalar(g, ""), tf.VariableOptions{Name: name, NotTrainable: true})
		s.next = ops.Placeholder(g, tf.String, tf.Shape{}, tf.Name(name+"/next"))
		s.keep = s.state.Assign(s.next)
	})
	return s
}

// Hook returns the hook that brings input to where a new session's model is.
func (s *InputSaver) Hook() Hook { return &inputHook{s: s} }

// Listener returns the listener that notes how far input is before a save.
func (s *InputSaver) Listener() CheckpointSaverListener { return &inputListener{s: s} }

// follow restores the input in a session that is new.
func (s *InputSaver) follow(ctx context.Context, r *session.Session) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.known == r {
		return nil
	}
	out, err := r.Run(ctx, nil, s.state.Value())
	if err != nil {
		return err
	}
	if state := tf.Data[string](out[0])[0]; state != "" {
		if err := s.input.Restore(ctx, []byte(state)); err != nil {
			return err
		}
	}
	s.known = r
	return nil
}

// note writes to the variable how far the input is.
func (s *InputSaver) note(ctx context.Context, r *session.Session) error {
	state, err := s.input.Save(ctx)
	if err == nil {
		_, err = r.Run(ctx, session.Feeds{s.next: tf.Scalar(string(state))}, s.keep)
	}
	return err
}

type inputHook struct {
	BaseHook
	s *InputSaver
}

func (h *inputHook) Begin(*tf.Graph) error {
	if h.s.input == nil {
		return tf.Errorf(tf.InvalidArgument, "an input saver needs the input whose state it saves, got nil")
	}
	return h.s.keep.Graph().Err()
}

func (h *inputHook) AfterCreateSession(ctx context.Context, r *session.Session, _ *Coordinator) error {
	return h.s.follow(ctx, r)
}

type inputListener struct {
	BaseListener
	s *InputSaver
}

// BeforeSave also comes before the hook, when the hook that saves is the first.
func (l *inputListener) BeforeSave(ctx context.Context, r *session.Session, _ int64) error {
	if err := l.s.follow(ctx, r); err != nil {
		return err
	}
	return l.s.note(ctx, r)
}
