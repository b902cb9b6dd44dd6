//go:build unix

package main

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/gorge-tf/gorge/internal/secure/securetest"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/cluster"
	"github.com/gorge-tf/gorge/tf/ops"
	opsio "github.com/gorge-tf/gorge/tf/ops/io"
	"github.com/gorge-tf/gorge/tf/session"
)

// TestServeSecured: a server with a file of flags lets in clients with a
// certificate and the role, reads new roles at SIGHUP, keeps operations in their directories, and
// writes down who called what.
func TestServeSecured(t *testing.T) {
	ca := securetest.New(t)
	for _, name := range []string{"server", "client"} {
		ca.Issue(t, securetest.Cert{Name: name})
	}
	in, secret, audit, roles := t.TempDir(), ca.Path("server.key"), ca.Path("audit"), ca.Path("roles")
	securetest.Write(t, roles, []byte("observe client\nadminister server\n"))
	securetest.Write(t, filepath.Join(in, "data"), []byte("hello"))
	config := ca.Path("flags")
	securetest.Write(t, config, []byte(strings.Join([]string{
		"# how the server is secured", "tls_cert = " + ca.Path("server.pem"), "--tls_key " + secret, "tls_ca=" + ca.Path("ca.pem"), "tls_crl " + ca.Path("crl.pem"),
		"roles " + roles, "tls_reload -1s", "audit_log " + audit, "allow_files " + in, "deny_ops PrintV2,Debug*", "log error",
	}, "\n")))
	p := startServer(t, "--config="+config)
	asks := []string{"--tls_ca=" + ca.Path("ca.pem"), "--tls_cert=" + ca.Path("client.pem"), "--tls_key=" + ca.Path("client.key")}
	var out bytes.Buffer
	if status := run(t.Context(), append(append([]string{"devices"}, asks...), p.target), &out, io.Discard); status != 0 || !strings.Contains(out.String(), "/device:CPU:0") {
		t.Errorf("gorge devices: status %d, output %q", status, out.String())
	}
	out.Reset()
	spec := "--cluster_spec=worker|" + strings.TrimPrefix(p.target, "grpc://")
	if status := run(t.Context(), append(append([]string{"doctor"}, asks...), spec), &out, io.Discard); status != 0 || !strings.Contains(out.String(), "ok") {
		t.Errorf("gorge doctor: status %d, output %q", status, out.String())
	}
	if status := run(t.Context(), []string{"doctor", "--timeout=1s", spec}, io.Discard, io.Discard); status == 0 {
		t.Error("gorge doctor in plain text was answered")
	}
	g := tf.NewGraph()
	name := ops.Placeholder(g, tf.String, tf.Shape{})
	text := opsio.ReadFile(name)
	s, err := session.New(g, session.Target(p.target), cluster.Secured(securetest.Open(t, ca.Files("client"))))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	read := func(path string) error {
		got, err := session.Fetch[string](t.Context(), s, session.Feeds{name: tf.Scalar(path)}, text)
		if err == nil && got[0] != "hello" {
			t.Errorf("%s says %q", path, got)
		}
		return err
	}
	if err := read(filepath.Join(in, "data")); tf.CodeOf(err) != tf.PermissionDenied || !strings.Contains(err.Error(), "needs the role run") {
		t.Errorf("who may look only runs a step: %v", err)
	}
	securetest.Write(t, roles, []byte("run client\nadminister server\n"))
	if err := p.cmd.Process.Signal(syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}
	for err = read(filepath.Join(in, "data")); tf.CodeOf(err) == tf.PermissionDenied; err = read(filepath.Join(in, "data")) {
		time.Sleep(time.Millisecond) // until the server has taken note of the signal
	}
	if err != nil {
		t.Errorf("with the role: %v", err)
	}
	for _, path := range []string{secret, filepath.Join(in, "..", filepath.Base(in)+"x"), "/dev/zero", "/etc/passwd"} {
		if err := read(path); tf.CodeOf(err) != tf.PermissionDenied || !strings.Contains(err.Error(), "may use files below") {
			t.Errorf("reading %s: %v", path, err)
		}
	}
	tf.Apply(g, "PrintV2", []tf.Output{text}, tf.Name("loud"))
	if err := read(filepath.Join(in, "data")); tf.CodeOf(err) != tf.PermissionDenied || !strings.Contains(err.Error(), "loud") {
		t.Errorf("a graph with a denied op: %v", err)
	}
	log, err := os.ReadFile(audit)
	if err != nil || !bytes.Contains(log, []byte(`"who":"client"`)) || !bytes.Contains(log, []byte(`CreateSession`)) {
		t.Errorf("the audit log says %s, %v", log, err)
	}
}

// TestReadFlags: flags of a file are as those of the command line, which win.
func TestReadFlags(t *testing.T) {
	path := filepath.Join(t.TempDir(), "flags")
	for text, want := range map[string]string{
		"max_sessions 5\n\n # all\n--no_links\ntask_id=3": "", "max_sessions": "line 1", "\nunknown 1": "line 2", "task_id x": "line 1",
	} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		f, err := parseServe([]string{"--config", path, "--task_id=7"}, io.Discard)
		if want == "" {
			if err != nil || f.quotas.Sessions != 5 || !f.noLinks || f.task != 7 {
				t.Errorf("%q: %+v, %v", text, f, err)
			}
		} else if text != "task_id x" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%q: %v", text, err)
		}
	}
	if _, err := parseServe([]string{"--config", "/nowhere"}, io.Discard); tf.CodeOf(err) != tf.NotFound {
		t.Errorf("without the file: %v", err)
	}
}
