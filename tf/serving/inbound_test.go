package serving

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"google.golang.org/grpc"

	"github.com/gorge-tf/gorge/internal/inbound"
	"github.com/gorge-tf/gorge/tf"
)

// mayUse bounds how much memory the process may use from now on, until the test ends.
func mayUse(t *testing.T, more int64) {
	used, _ := tf.MemoryUsage()
	before := tf.SetMemoryLimit(used + more)
	t.Cleanup(func() { tf.SetMemoryLimit(before) })
}

// A face of a server is where an attack goes to.
type face struct {
	url    string
	client func() *http.Client // with connections of its own
	stop   func()              // waits for the handlers
}

// overHTTP serves s by HTTP/1.1, or by HTTP/2.
func overHTTP(t *testing.T, s *Server, two bool) face {
	h := httptest.NewUnstartedServer(s.Handler())
	h.EnableHTTP2 = two
	if two {
		h.StartTLS()
	} else {
		h.Start()
	}
	t.Cleanup(h.Close)
	return face{h.URL + "/v1/models/m:predict", h.Client, h.Close}
}

// overGRPC serves s by a gRPC server of the program's.
func overGRPC(t *testing.T, s *Server) face {
	g := grpc.NewServer(append(s.GRPCOptions(), grpc.Creds(Credentials(nil)))...)
	s.RegisterGRPC(g)
	lis, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	go g.Serve(lis)
	t.Cleanup(g.Stop)
	return face{"http://" + lis.Addr().String() + "/tensorflow.serving.PredictionService/Predict", func() *http.Client {
		tr := &http.Transport{Protocols: new(http.Protocols)}
		tr.Protocols.SetUnencryptedHTTP2(true)
		t.Cleanup(tr.CloseIdleConnections)
		return &http.Client{Transport: tr}
	}, g.Stop}
}

// An attack is bodies of which the end never comes.
type attack struct {
	head    []byte // before the bytes
	n       int    // bytes that come
	size    int64
	zip     bool
	bodies  int
	release chan struct{} // closed when the attack ends
	expired *atomic.Bool  // set when the server has ended no body for a minute
}

// feed writes what comes of a body. It ends with the attack, or when the server does not
// take more.
func (a *attack) feed(in *io.PipeWriter) {
	defer in.Close()
	w := io.Writer(in)
	if a.zip {
		w = gzip.NewWriter(in)
	}
	if _, err := w.Write(a.head); err != nil {
		return
	}
	block := bytes.Repeat([]byte{' '}, 64<<10)
	for range a.n / len(block) {
		if _, err := w.Write(block); err != nil {
			return
		}
	}
	select {
	case <-a.release:
	case <-time.After(time.Minute):
		a.expired.Store(true)
	}
}

// send begins a body and returns how it was answered.
func (a *attack) send(to face) string {
	out, in := io.Pipe()
	defer out.Close()
	go a.feed(in)
	r, err := http.NewRequest(http.MethodPost, to.url, out)
	if err != nil {
		return err.Error()
	}
	r.ContentLength = a.size
	if a.zip {
		r.Header.Set("Content-Encoding", "gzip")
	}
	if a.head != nil {
		r.Header.Set("Content-Type", "application/grpc")
		r.Header.Set("Te", "trailers")
	}
	resp, err := to.client().Do(r)
	if err != nil {
		return err.Error()
	}
	defer resp.Body.Close()
	text, _ := io.ReadAll(resp.Body) // the connection may have been ended
	return fmt.Sprint(resp.StatusCode, string(text))
}

// TestBodiesFitMemory: what has come of many large bodies and messages stays within its
// part of the memory: those with the most of it are ended, and other requests are
// answered.
func TestBodiesFitMemory(t *testing.T) {
	message := []byte{0, 40 << 20 >> 24, 40 << 20 >> 16 & 255, 0, 0} // of 40 MiB
	for name, a := range map[string]attack{
		"of a size":  {n: 12 << 20, size: 40 << 20, bodies: 20},
		"in chunks":  {n: 12 << 20, size: -1, bodies: 20},
		"compressed": {n: 40 << 20, size: -1, zip: true, bodies: 8},
		"by HTTP/2":  {n: 12 << 20, size: -1, bodies: 20},
		"by gRPC":    {n: 12 << 20, size: -1, bodies: 20, head: message},
	} {
		t.Run(name, func(t *testing.T) {
			s := serve(t, Config{}, models(t, 1))
			rest := overHTTP(t, s, name == "by HTTP/2")
			to := rest
			if a.head != nil {
				to = overGRPC(t, s)
			}
			mayUse(t, 128<<20)
			a.release, a.expired = make(chan struct{}), new(atomic.Bool)
			answers := make(chan string, a.bodies)
			for range a.bodies {
				go func() { answers <- a.send(to) }()
			}
			most := await(t, answers)
			if room := inbound.Most(); most > room+32<<20 { // each asks for a piece before there is room
				t.Errorf("up to %d bytes of bodies, want %d at most", most, room)
			}
			if a.expired.Load() {
				t.Error("the server ends no body")
			}
			resp, err := rest.client().Post(rest.url, "", strings.NewReader(`{"instances": [2]}`))
			if err != nil {
				t.Fatal(err)
			}
			resp.Body.Close()
			if resp.StatusCode != http.StatusOK {
				t.Errorf("another request: %s", resp.Status)
			}
			close(a.release)
			for range a.bodies - 1 {
				<-answers
			}
			to.stop()
			if held := inbound.Held(); held != 0 {
				t.Errorf("%d bytes are counted after all requests have ended", held)
			}
		})
	}
}

// await waits until a body has been ended and returns the most that was held till then.
func await(t *testing.T, answers <-chan string) (most int64) {
	t.Helper()
	for {
		select {
		case a := <-answers:
			if strings.HasPrefix(a, "200") || strings.HasPrefix(a, "400") {
				t.Errorf("a body that has not ended is answered: %s", a)
			}
			return most
		case <-time.After(time.Millisecond):
		}
		most = max(most, inbound.Held())
	}
}

// TestBodyBeyondMemory: a body of which half the memory is too little is refused by the
// size that it is said to have.
func TestBodyBeyondMemory(t *testing.T) {
	s := serve(t, Config{}, models(t, 1))
	h := overHTTP(t, s, false)
	mayUse(t, 64<<20)
	a := attack{size: inbound.Most() + 1, release: make(chan struct{}), expired: new(atomic.Bool)}
	defer close(a.release)
	if got := a.send(h); !strings.HasPrefix(got, "413") {
		t.Errorf("%s, want 413", got)
	}
}
