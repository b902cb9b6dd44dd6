// Package client lets sessions run on clusters. Importing it makes targets of the form
// grpc://host:port work:
//
//	import _ "github.com/gorge-tf/gorge/tf/cluster/client"
//	...
//	s, err := session.New(g, session.Target("grpc://ps0:2222"))
//
// A program that imports it has no part of a server, and the operations of its own packages
// only. Package cluster includes this one, and has all operations.
package client

import (
	"log/slog"

	_ "github.com/gorge-tf/gorge/internal/remote" // targets grpc://… and grpc+verbs://…
	"github.com/gorge-tf/gorge/internal/secure"
	"github.com/gorge-tf/gorge/tf/session"
)

// Security is what secures the connections of a process: certificates, revocations and
// tokens, read from files, and read again when these change. All methods may be called
// from any goroutine; Close ends it.
type Security = secure.Keeper

// SecurityFiles names the files of a Security.
type SecurityFiles = secure.Files

// OpenSecurity reads files and looks after them until the Security is closed. Log gets
// records about the files (nil: none are written); audit is for servers, and nil here.
func OpenSecurity(f SecurityFiles, log, audit slog.Handler) (*Security, error) {
	var l *slog.Logger
	if log != nil {
		l = slog.New(log)
	}
	return secure.Open(f, l, audit)
}

// Secured secures the connections of a session. Unlike with [session.TLS], files may be
// replaced while the session is open.
func Secured(s *Security) session.Option {
	return func(c *session.Config) { c.Security = s }
}
