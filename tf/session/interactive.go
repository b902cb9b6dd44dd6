package session

import (
	"context"

	"github.com/gorge-tf/gorge/tf"
)

// Interactive returns a session on g that is the graph's default until it is
// closed: Output.Eval and Operation.Run use it. Of several the latest counts.
func Interactive(g *tf.Graph, opts ...Option) (*Session, error) {
	s, err := New(g, opts...)
	if err != nil {
		return nil, err
	}
	s.retire = tf.SetDefaultSession(s)
	return s, nil
}

// AsDefault returns a context in which Output.Eval and Operation.Run use s.
func (s *Session) AsDefault(ctx context.Context) context.Context {
	return tf.WithDefaultSession(ctx, s)
}

// RunStep is Run. It makes a Session a [tf.StepRunner].
func (s *Session) RunStep(ctx context.Context, feeds map[tf.Output]tf.Value, fetches ...tf.Fetchable) ([]*tf.Tensor, error) {
	return s.Run(ctx, feeds, fetches...)
}
