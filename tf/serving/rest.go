package serving

import (
	"context"
	"errors"
	"net/http"
	"regexp"
	"strings"
	"time"

	"github.com/gorge-tf/gorge/internal/secure"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/pb/servingpb"
)

// Handler returns the REST API of TensorFlow Serving:
//
//	POST /v1/models/NAME[/versions/N|/labels/L]:(predict|classify|regress)
//	GET  /v1/models/NAME[/versions/N|/labels/L][/metadata]
//
// and besides, as TensorFlow Serving has not:
//
//	GET /                    a page that lists models, with a form to try them
//	GET /openapi/NAME.json   an OpenAPI description of a model
//	GET /healthz             200 while the server runs
//	GET /readyz[/NAME]       200 when all models, or one, have a version that is available; else 503
func (s *Server) Handler() http.Handler {
	h := &rest{s: s}
	mux := http.NewServeMux()
	observe := func(f http.HandlerFunc) http.Handler { return s.cfg.Security.Protect(secure.Observe, f) }
	mux.Handle("GET /openapi/{file}", h.shared(observe(h.openAPI)))
	mux.Handle("OPTIONS /openapi/{file}", h.shared(http.HandlerFunc(h.preflight)))
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { plain(w, http.StatusOK, "ok") })
	mux.HandleFunc("GET /readyz", h.ready)
	mux.HandleFunc("GET /readyz/{name}", h.ready)
	if !s.cfg.NoPage {
		mux.Handle("GET /{$}", observe(h.page))
	}
	return paced(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(lower(r.URL.Path), "/v1/") { // the mux would redirect paths that it does not find clean
			h.serve(w, r)
		} else {
			mux.ServeHTTP(w, r)
		}
	}))
}

// rest answers requests of the REST API.
type rest struct{ s *Server }

// A reply is what a request is answered with.
type reply struct {
	model, method string
	body          []byte
	err           error
	status        int // 0: that of err
}

// serve answers a request below /v1/.
func (h *rest) serve(w http.ResponseWriter, r *http.Request) {
	h.share(w)
	if r.Method == http.MethodOptions {
		h.preflight(w, r)
		return
	}
	start := time.Now()
	a := &reply{}
	a.err = core.Guard("the request", func() error { return h.answer(a, w, r) })
	a.write(w)
	if a.method != "" {
		h.s.count(a.model, a.method, "REST", a.err, start)
	}
}

var corsHeaders = map[string]string{
	"Access-Control-Allow-Origin": "*", "Access-Control-Allow-Methods": "POST, GET", "Access-Control-Allow-Headers": "Content-Type",
}

// share says that pages of other origins may read the answer, if the server lets them. Those
// that send a token may only where tokens are asked for: TensorFlow Serving knows none.
func (h *rest) share(w http.ResponseWriter) {
	if !h.s.cfg.CORS {
		return
	}
	for name, value := range corsHeaders {
		w.Header().Set(name, value)
	}
	if h.s.cfg.Security != nil {
		w.Header().Set("Access-Control-Allow-Headers", "Content-Type, Authorization")
	}
}

// shared is next with what share says.
func (h *rest) shared(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h.share(w)
		next.ServeHTTP(w, r)
	})
}

var httpOrigin = regexp.MustCompile("https?://")

// preflight answers what browsers ask before requests to other origins.
func (h *rest) preflight(w http.ResponseWriter, r *http.Request) {
	if !httpOrigin.MatchString(r.Header.Get("Origin")) {
		w.WriteHeader(http.StatusBadRequest)
	}
}

func (a *reply) write(w http.ResponseWriter) {
	w.Header().Set("Content-Type", "application/json")
	if a.err != nil {
		if a.status == 0 {
			a.status = httpStatus(tf.CodeOf(a.err))
		}
		w.WriteHeader(a.status)
		a.body = errorBody(a.err)
	}
	w.Write(a.body) // a client that has gone is not told
}

// The paths, before they are unescaped. Names, versions and labels are groups 1 to
// 3, what is asked for is group 4.
var (
	postPath = regexp.MustCompile(`(?i)^/v1/models/([^/:]+)(?:/versions/(\d+)|/labels/([^/:]+))?:(classify|regress|predict)$`)
	getPath  = regexp.MustCompile(`(?i)^/v1/models(?:/([^/:]+))?(?:/versions/(\d+)|/labels/([^/:]+))?(?:/(metadata))?$`)
)

// answer answers a request with a body or an error.
func (h *rest) answer(a *reply, w http.ResponseWriter, r *http.Request) (err error) {
	forms := map[string]*regexp.Regexp{http.MethodPost: postPath, http.MethodGet: getPath}
	var parts []string
	if form := forms[r.Method]; form != nil {
		parts = form.FindStringSubmatch(r.URL.EscapedPath())
	}
	if parts == nil {
		return tf.Errorf(tf.InvalidArgument, "Malformed request: %s %s", r.Method, r.URL.EscapedPath())
	}
	spec, err := specOf(parts)
	if err != nil {
		return err
	}
	r, end := h.s.observeHTTP(r, callOf(parts[4]))
	defer func() { end(err) }()
	if err := h.s.cfg.Security.AllowHTTP(r, roleOf(r.Method)); err != nil {
		if tf.CodeOf(err) == tf.Unauthenticated {
			w.Header().Set("WWW-Authenticate", "Bearer")
		}
		w.Header().Set("Connection", "close") // else the server would wait for the body first
		return err
	}
	if r.Method == http.MethodGet {
		a.body, err = h.describe(r.Context(), spec, parts[4] != "")
		return err
	}
	return h.post(a, w, r, spec, lower(parts[4]))
}

// post answers a request that has a body.
func (h *rest) post(a *reply, w http.ResponseWriter, r *http.Request, spec *servingpb.ModelSpec, method string) error {
	ctx, cancel := h.bounded(r)
	defer cancel()
	a.model, a.method = spec.GetName(), method
	body, err := h.body(w, r)
	if err != nil {
		var tooLarge *http.MaxBytesError
		if errors.As(err, &tooLarge) {
			a.status = http.StatusRequestEntityTooLarge
			return tf.Errorf(tf.InvalidArgument, "the body of a request must have at most %d bytes", tooLarge.Limit)
		}
		return err
	}
	a.body, err = h.compute(ctx, a.method, spec, body)
	if errors.Is(ctx.Err(), context.DeadlineExceeded) && tf.CodeOf(err) == tf.Canceled {
		return tf.Errorf(tf.DeadlineExceeded, "Timed out waiting for the model: the limit is %v", h.s.cfg.RequestTimeout)
	}
	return err
}

// bounded returns the context of a request with its timeout.
func (h *rest) bounded(r *http.Request) (context.Context, context.CancelFunc) {
	if h.s.cfg.RequestTimeout < 0 {
		return context.WithCancel(r.Context())
	}
	return context.WithTimeout(r.Context(), h.s.cfg.RequestTimeout)
}

// httpStatus returns the status by which HTTP has a code.
func httpStatus(c tf.Code) int {
	switch c {
	case tf.OK:
		return http.StatusOK
	case tf.InvalidArgument, tf.FailedPrecondition, tf.OutOfRange:
		return http.StatusBadRequest
	case tf.Unauthenticated:
		return http.StatusUnauthorized
	case tf.PermissionDenied:
		return http.StatusForbidden
	case tf.NotFound:
		return http.StatusNotFound
	case tf.AlreadyExists, tf.Aborted:
		return http.StatusConflict
	case tf.ResourceExhausted:
		return http.StatusTooManyRequests
	case tf.Canceled:
		return 499 // the client has closed the connection
	case tf.Unimplemented:
		return http.StatusNotImplemented
	case tf.Unavailable:
		return http.StatusServiceUnavailable
	case tf.DeadlineExceeded:
		return http.StatusGatewayTimeout
	}
	return http.StatusInternalServerError
}
