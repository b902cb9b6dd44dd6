package remote

import (
	"crypto/tls"

	"google.golang.org/grpc/credentials"

	"github.com/gorge-tf/gorge/internal/rpc"
	"github.com/gorge-tf/gorge/internal/secure"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/session"
)

// DialConfig is how a server is reached: by TLS, by TLS and tokens from files, or, if
// both are nil, in plain text.
func DialConfig(c *tls.Config, s *secure.Keeper) rpc.DialConfig {
	switch {
	case s != nil:
		return rpc.DialConfig{Guard: s}
	case c != nil:
		return rpc.DialConfig{Credentials: credentials.NewTLS(c)}
	}
	return rpc.DialConfig{}
}

// security returns that of a session.
func security(c *session.Config) (*secure.Keeper, error) {
	if c.Security == nil {
		return nil, nil
	}
	s, ok := c.Security.(*secure.Keeper)
	switch {
	case !ok || s == nil:
		return nil, tf.Errorf(tf.InvalidArgument, "a session's Security must come from cluster.OpenSecurity, got a %T", c.Security)
	case c.TLS != nil:
		return nil, tf.Errorf(tf.InvalidArgument, "a session must have TLS or Security, not both")
	}
	return s, nil
}

// observer returns that of a session.
func observer(c *session.Config) (rpc.Observer, error) {
	if c.Observer == nil {
		return nil, nil
	}
	o, ok := c.Observer.(rpc.Observer)
	if !ok {
		return nil, tf.Errorf(tf.InvalidArgument, "a session's Observer must be a cluster.Observer, got a %T", c.Observer)
	}
	return o, nil
}
