package session_test

import (
	"bytes"
	"crypto/tls"
	"log/slog"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/gorge-tf/gorge/internal/options"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/session"
)

// TestOptionsAreInTheTable: what becomes of each field is said, for both kinds of
// sessions.
func TestOptionsAreInTheTable(t *testing.T) {
	var want, have []string
	for _, of := range []reflect.Type{reflect.TypeFor[session.Config](), reflect.TypeFor[session.RunOptions]()} {
		for i := range of.NumField() {
			want = append(want, of.Name()+"."+of.Field(i).Name)
		}
	}
	fates := []options.Fate{options.Served, options.Refused, options.Ignored}
	for _, r := range options.ProgramTable() {
		have = append(have, r.Name)
		if !slices.Contains(fates, r.Local) || !slices.Contains(fates, r.Cluster) {
			t.Errorf("%s: %q in this process, %q on a cluster", r.Name, r.Local, r.Cluster)
		}
	}
	slices.Sort(want)
	slices.Sort(have)
	if !slices.Equal(want, have) {
		t.Errorf("the fields are\n%q, the table has\n%q", want, have)
	}
}

// TestOptionsWithoutEffect: a session in this process logs those that only clusters
// serve, once, and refuses a cluster of its own.
func TestOptionsWithoutEffect(t *testing.T) {
	var log bytes.Buffer
	cfg := session.Config{Log: slog.NewTextHandler(&log, nil), Isolate: true, TLS: &tls.Config{}, Threads: 1}
	for range 2 {
		s, err := session.New(tf.NewGraph(), session.With(cfg))
		if err != nil {
			t.Fatal(err)
		}
		s.Close()
	}
	if text := log.String(); strings.Count(text, "option=Config.Isolate") != 1 || strings.Count(text, "option=Config.TLS") != 1 || strings.Contains(text, "Threads") {
		t.Errorf("logged:\n%s", text)
	}
	cfg = session.Config{Cluster: map[string][]string{"worker": {"127.0.0.1:1"}}}
	if _, err := session.New(tf.NewGraph(), session.With(cfg)); tf.CodeOf(err) != tf.InvalidArgument || !strings.Contains(err.Error(), "must have a target") {
		t.Errorf("a cluster without a target: %v", err)
	}
}
