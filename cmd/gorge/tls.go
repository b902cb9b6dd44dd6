package main

import (
	"crypto/tls"
	"flag"
	"io"
	"log/slog"
	"os"

	"github.com/gorge-tf/gorge/internal/secure"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/cluster"
)

// tlsFlags name the files that secure connections.
type tlsFlags struct {
	files          cluster.SecurityFiles
	verify, least  string
	audit          string
	auditFile      io.Closer
	servesNoClient bool // the command is a client only
}

// client defines what commands need that only ask servers.
func (f *tlsFlags) client(s *flag.FlagSet) {
	s.StringVar(&f.files.CA, "tls_ca", "", "`file` with the certificates of CAs that peers' certificates lead to; connections are in plain text unless it, or a certificate, is given")
	s.StringVar(&f.files.Cert, "tls_cert", "", "`file` with the certificate of this process, PEM")
	s.StringVar(&f.files.Key, "tls_key", "", "`file` with its key")
	s.StringVar(&f.files.CRL, "tls_crl", "", "`file` with revocation lists of the CAs of -tls_ca")
	s.StringVar(&f.files.ServerName, "tls_server_name", "", "`name` that servers' certificates must have, instead of the host that is connected to")
	s.StringVar(&f.files.Token, "token_file", "", "`file` with the token that calls carry")
	s.StringVar(&f.least, "tls_min_version", "1.2", "least `version` of TLS: 1.2 or 1.3")
}

// server defines what servers need besides.
func (f *tlsFlags) server(s *flag.FlagSet) {
	f.client(s)
	f.callers(s)
}

// serverOnly defines what servers need that call no other server.
func (f *tlsFlags) serverOnly(s *flag.FlagSet) {
	s.StringVar(&f.files.CA, "tls_ca", "", "`file` with the certificates of CAs that clients' certificates lead to")
	s.StringVar(&f.files.Cert, "tls_cert", "", "`file` with the certificate of the server, PEM, for gRPC and REST; both are in plain text without it")
	s.StringVar(&f.files.Key, "tls_key", "", "`file` with its key")
	s.StringVar(&f.files.CRL, "tls_crl", "", "`file` with revocation lists of the CAs of -tls_ca")
	s.StringVar(&f.least, "tls_min_version", "1.2", "least `version` of TLS: 1.2 or 1.3")
	f.callers(s)
}

// callers defines who may call.
func (f *tlsFlags) callers(s *flag.FlagSet) {
	s.StringVar(&f.verify, "tls_client_verify", "", "what is asked of clients' certificates: require (the default with -tls_ca), given, or none")
	s.StringVar(&f.files.Roles, "roles", "", "`file` with roles (observe, run, administer) of names in certificates; without it who is let in may do all")
	s.StringVar(&f.files.Tokens, "tokens", "", "`file` with tokens that are accepted, and their roles")
	s.DurationVar(&f.files.Poll, "tls_reload", secure.DefaultPoll, "look so `often` whether files have changed; negative: only at SIGHUP")
	s.StringVar(&f.audit, "audit_log", "", "`file` that is told, as JSON, who called what; - is the standard error")
}

// wanted reports whether there is TLS.
func (f *tlsFlags) wanted() bool {
	g := f.files
	return g.CA != "" || g.Cert != "" || g.Key != "" || g.CRL != "" || g.ServerName != "" || g.Token != "" || g.Roles != "" || g.Tokens != "" || f.verify != ""
}

// open reads the files; without flags it returns nil.
func (f *tlsFlags) open(log slog.Handler, stderr io.Writer) (*cluster.Security, error) {
	if !f.wanted() {
		return nil, f.checkPlain()
	}
	versions := map[string]uint16{"1.2": tls.VersionTLS12, "1.3": tls.VersionTLS13}
	if f.files.MinVersion = versions[f.least]; f.files.MinVersion == 0 {
		return nil, tf.Errorf(tf.InvalidArgument, "the least version of TLS must be 1.2 or 1.3, got %q", f.least)
	}
	f.files.ClientVerify = secure.Verify(f.verify)
	if f.servesNoClient {
		f.files.ClientVerify = secure.VerifyNone
	}
	audit, err := f.openAudit(stderr)
	if err != nil {
		return nil, err
	}
	s, err := cluster.OpenSecurity(f.files, log, audit)
	if err != nil && f.auditFile != nil {
		f.auditFile.Close()
	}
	return s, err
}

// checkPlain refuses what has no effect in plain text.
func (f *tlsFlags) checkPlain() error {
	switch {
	case f.audit != "":
		return tf.Errorf(tf.InvalidArgument, "an audit log needs TLS: without it callers cannot be told apart")
	case f.least != "1.2":
		return tf.Errorf(tf.InvalidArgument, "-tls_min_version has no effect without a certificate or a CA: connections would be in plain text")
	case f.files.Poll != 0 && f.files.Poll != secure.DefaultPoll:
		return tf.Errorf(tf.InvalidArgument, "-tls_reload has no effect without a file that could change")
	}
	return nil
}

func (f *tlsFlags) openAudit(stderr io.Writer) (slog.Handler, error) {
	switch f.audit {
	case "":
		return nil, nil
	case "-":
		return slog.NewJSONHandler(stderr, nil), nil
	}
	file, err := os.OpenFile(f.audit, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, tf.Errorf(tf.InvalidArgument, "cannot open the audit log: %v", err)
	}
	f.auditFile = file
	return slog.NewJSONHandler(file, nil), nil
}

// close ends what open began.
func (f *tlsFlags) close(s *cluster.Security) {
	if s != nil {
		s.Close()
	}
	if f.auditFile != nil {
		f.auditFile.Close()
	}
}
