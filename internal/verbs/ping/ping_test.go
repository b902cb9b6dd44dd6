package ping_test

import (
	"context"
	"errors"
	"net"
	"testing"

	"github.com/gorge-tf/gorge/internal/leaktest"
	"github.com/gorge-tf/gorge/internal/verbs"
	"github.com/gorge-tf/gorge/internal/verbs/ping"
	"github.com/gorge-tf/gorge/internal/verbs/soft"
	"github.com/gorge-tf/gorge/tf/core"
)

func TestMain(m *testing.M) { leaktest.Main(m) }

func device(t *testing.T) verbs.Device {
	t.Helper()
	d, err := soft.Open(soft.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	})
	return d
}

func listen(t *testing.T) net.Listener {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func TestPing(t *testing.T) {
	l := listen(t)
	served := make(chan error, 1)
	there, here := device(t), device(t)
	go func() { served <- ping.Serve(t.Context(), there, l) }()
	results, peer, err := ping.Run(t.Context(), here, l.Addr().String())
	if err := errors.Join(err, <-served); err != nil {
		t.Fatal(err)
	}
	if len(results) != 2 || results[0].Size != 1<<10 || results[1].Size != 1<<20 || results[1].Took <= 0 || peer != there.Attributes().Detail {
		t.Errorf("results %v from %q", results, peer)
	}
}

// TestNobody: an address where nothing answers, or something else does, is an error.
func TestNobody(t *testing.T) {
	l := listen(t)
	go func() {
		conn, err := l.Accept()
		if err == nil {
			conn.Write([]byte("HTTP/1.1 400 Bad Request\r\n"))
			conn.Close()
		}
		l.Close()
	}()
	here := device(t)
	for range 2 {
		if _, _, err := ping.Run(t.Context(), here, l.Addr().String()); core.CodeOf(err) != core.Unavailable {
			t.Errorf("a ping to nobody gives %v", err)
		}
	}
}

// TestServeEnds: a wait for a ping ends with its context.
func TestServeEnds(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := ping.Serve(ctx, device(t), listen(t)); err == nil {
		t.Error("a ping that nobody sent was answered")
	}
}
