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

// SecurityFiles names the files of a Security, PEM unless said otherwise. Its fields are
//
//	Cert, Key    string        // what this process shows, intermediate certificates behind the first
//	CA           string        // certificates that peers' have to lead to; "": those of the machine
//	CRL          string        // revocation lists of the CAs; "": none
//	ClientVerify secure.Verify // what a server asks of clients, "require", "given" or "none"; "": "require" if there is a CA, else "none"
//	ServerName   string        // the name that servers' certificates must have; "": the host that is connected to
//	MinVersion   uint16        // of TLS; 0: 1.2
//	Roles        string        // which certificates' names have which role; "": all clients may do all
//	Tokens       string        // those that the server accepts; "": none
//	Token        string        // the one that this process sends; "": none
//	Poll         time.Duration // how often the files are looked at; 0: every ten seconds, negative: never
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
