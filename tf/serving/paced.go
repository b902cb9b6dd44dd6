package serving

import (
	"net/http"
	"time"
)

// A client has pieceTime to take pieceBytes of an answer. Without a bound, clients that
// ask and do not read would hold answers and goroutines for as long as they like. The
// time for an answer is not bounded as a whole: a large one may come slowly.
const (
	pieceBytes = 64 << 10
	pieceTime  = 30 * time.Second
)

// paced returns a handler whose answers end with an error on clients that do not take
// them.
func paced(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		p := &pacedWriter{w, http.NewResponseController(w)}
		next.ServeHTTP(p, r)
		p.extend() // for what the server writes now; it takes the deadline back then
	})
}

type pacedWriter struct {
	http.ResponseWriter
	control *http.ResponseController
}

// extend sets the deadline for the next piece.
func (w *pacedWriter) extend() {
	_ = w.control.SetWriteDeadline(time.Now().Add(pieceTime)) // fails where there are none, as in tests of handlers
}

// Write writes piece by piece, each with a deadline of its own.
func (w *pacedWriter) Write(p []byte) (n int, err error) {
	for {
		w.extend()
		m, err := w.ResponseWriter.Write(p[n:min(len(p), n+pieceBytes)])
		if n += m; err != nil || n == len(p) {
			return n, err
		}
	}
}

// Unwrap gives [http.ResponseController] what lies beneath.
func (w *pacedWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }
