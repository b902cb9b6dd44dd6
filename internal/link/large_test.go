package link

import (
	"errors"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/mem"
	"google.golang.org/grpc/status"
)

// vast is a codec for which messages that say so are longer than a frame may carry, without
// so much memory.
type vast struct{ plain }

func (c vast) Marshal(v any) (mem.BufferSlice, error) {
	out, err := c.plain.Marshal(v)
	if b, ok := v.(*[]byte); !ok || string(*b) != "vast" {
		return out, err
	}
	piece := mem.SliceBuffer(make([]byte, 1<<20))
	for out = nil; out.Len() <= maxBody; {
		for range 512 {
			out = append(out, piece)
		}
	}
	return out, nil
}

// TestVast: a message that is too long fails its own call, not the link.
func TestVast(t *testing.T) {
	for _, end := range []string{"client", "server"} {
		s := newTester()
		srv := newServer(s)
		if end == "server" {
			srv.codec = vast{}
		}
		a, b := pair(t)
		c := over(t, srv, a, b)
		if end == "client" {
			c.codec = vast{}
		}
		other := waiting(t, c, s)
		if _, err := ask(t.Context(), c, "Echo", "vast"); status.Code(err) != codes.ResourceExhausted {
			t.Errorf("%s: %v, want ResourceExhausted", end, err)
		}
		close(s.release)
		select {
		case err := <-other:
			if err != nil {
				t.Errorf("%s: another call: %v", end, err)
			}
		case <-time.After(10 * time.Second):
			t.Fatalf("%s: another call has no answer", end)
		}
	}
	c, _ := joined(t, newTester())
	c.codec = vast{}
	note := []byte("vast")
	if err := c.Notify(t.Context(), "/t/Note", &note); status.Code(err) != codes.ResourceExhausted {
		t.Errorf("a notification: %v, want ResourceExhausted", err)
	}
	if got, err := ask(t.Context(), c, "Echo", "x"); got != "x" || err != nil {
		t.Errorf("the next call: %q, %v", got, err)
	}
}

// sullen is a codec that cannot encode some messages.
type sullen struct{ plain }

func (c sullen) Marshal(v any) (mem.BufferSlice, error) {
	if b, ok := v.(*[]byte); ok && string(*b) == "no" {
		return nil, errors.New("I will not")
	}
	return c.plain.Marshal(v)
}

// TestUnencodable: a reply that cannot be encoded is a fault inside of the server.
func TestUnencodable(t *testing.T) {
	srv := newServer(newTester())
	srv.codec = sullen{}
	c := greeted(t, srv, nil)
	if _, err := ask(t.Context(), c, "Echo", "no"); status.Code(err) != codes.Internal || !strings.Contains(err.Error(), "I will not") {
		t.Errorf("%v, want Internal and the reason", err)
	}
}
