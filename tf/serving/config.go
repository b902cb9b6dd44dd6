package serving

import (
	"io/fs"
	"log/slog"
	"path/filepath"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/gorge-tf/gorge/internal/serving/versions"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/session"
)

// A Config says what a server serves, and how. All but Models has a default; a server
// without models serves what [Server.Reload] gives it.
type Config struct {
	// Models are those that the server begins with; Reload replaces them.
	Models []Model
	// Poll is how often directories are looked at for versions; 0: every second,
	// negative: once.
	Poll time.Duration
	// Tags of the MetaGraphs that are loaded; nil: {"serve"}.
	Tags []string
	// Session adjusts the sessions that run models.
	Session []session.Option
	// NoFold keeps batch normalizations apart from the convolutions before them, see
	// [savedmodel.Options].
	NoFold bool
	// NoFreeze makes each request read the variables, see [savedmodel.Options].
	NoFreeze bool
	// Runs is how many runs of a version are under way at once, see
	// [savedmodel.Options].
	Runs int
	// Loads is how many versions are loaded at once; 0: one.
	Loads int
	// LoadRetries is how many times the load of a version is tried again when it has
	// failed; 0: it is not tried again. RetryInterval is the pause before each try; 0:
	// none.
	LoadRetries   int
	RetryInterval time.Duration
	// NoWarmup leaves warm-up requests out, and the run of each signature with zeros
	// before a version is available; WarmupRounds says how many times each request is
	// run, 0: once.
	NoWarmup     bool
	WarmupRounds int
	// NoPrepare leaves the planning and running of signatures to the first request of
	// each. A version is then available sooner.
	NoPrepare bool
	// AnyLabel lets labels be given to versions that have not been loaded.
	AnyLabel bool
	// TensorContent answers with tensor_content instead of the fields of types: it
	// is smaller and faster. All clients of TensorFlow read both.
	TensorContent bool
	// CheckMethods refuses signatures whose method is not that of the call.
	CheckMethods bool
	// Batching joins requests; nil: each runs by itself.
	Batching *Batching
	// ModelBatching prefers the parameters in a version's file batching_params.pbtxt.
	ModelBatching bool
	// Metrics counts requests and their times; it may be nil.
	Metrics Metrics
	// Log gets records about versions and about what goes wrong; it may be nil.
	Log *slog.Logger
	// MaxRequests bounds the requests that are answered at once; those above it
	// fail with ResourceExhausted. 0: no bound.
	MaxRequests int
	// RequestTimeout bounds requests by REST; 0: 30s, negative: no bound.
	RequestTimeout time.Duration
	// MaxBody bounds the bodies of requests by REST, after they have been inflated;
	// 0: 100 MiB. MaxMessage bounds messages by gRPC; 0: 2 GiB - 1.
	MaxBody    int64
	MaxMessage int
	// CORS lets pages of any origin call by REST.
	CORS bool
	// Security says who may call what, by gRPC and by REST; nil: everybody may call
	// everything. It gives GRPCOptions the credentials. The server by HTTP that a
	// program serves the Handler with takes its TLS from Security.HTTPServer.
	Security *Security
	// Observer is told of calls; it may be nil.
	Observer Observer
	// MaxStreams bounds the calls that one connection by gRPC has under way at once;
	// 0: no bound.
	MaxStreams uint32
	// NoPage leaves out the page at /.
	NoPage bool
}

// A Model is a directory of versions.
type Model struct {
	Name     string // one with "/" or ":" is for gRPC only: no REST path leads to it
	BasePath string // absolute; with FS, a path in it
	// FS has the directory; nil: the file system of the machine has. A program can
	// so serve models that are embedded in it.
	FS       fs.FS
	Versions VersionPolicy
	// Labels are other names of versions, by which requests may ask for them.
	Labels map[string]int64
	Canary Canary
	Log    RequestLog
}

// A VersionPolicy chooses the versions of a model that are served. The zero value
// chooses the latest one. Its fields are
//
//	Latest   int     // how many of the highest versions; 0: one
//	All      bool    // every version
//	Specific []int64 // these, if they are there; none of them if it is empty; nil: not asked for
type VersionPolicy = versions.Policy

// A Canary sends a share of the requests that name no version to the version of a
// label, while that is available, and the others to the latest version beside it,
// while there is one. The zero value is none.
type Canary struct {
	Label string
	Share float64 // from 0 to 1
}

// Metrics is told of requests. Its methods are called from many goroutines.
type Metrics interface {
	// Request has been answered. The model is "" unless the server has one of the
	// name that was asked for; API is Predict, Classify, …; entrypoint is GRPC or REST.
	Request(model, api, entrypoint string, code tf.Code, d time.Duration)
	// Run of a model has taken a time.
	Run(model, api string, d time.Duration)
	// Examples have come with a request.
	Examples(model string, n int)
	// Batch has been run: its size is rounded up from that of its requests.
	Batch(model string, size, requests int)
}

// noMetrics is the Metrics of a program that has none.
type noMetrics struct{}

func (noMetrics) Request(string, string, string, tf.Code, time.Duration) {}
func (noMetrics) Run(string, string, time.Duration)                      {}
func (noMetrics) Examples(string, int)                                   {}
func (noMetrics) Batch(string, int, int)                                 {}

// withDefaults returns c with values for what is not set.
func (c Config) withDefaults() Config {
	if c.Poll == 0 {
		c.Poll = time.Second
	}
	if c.Metrics == nil {
		c.Metrics = noMetrics{}
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	if c.RequestTimeout == 0 {
		c.RequestTimeout = 30 * time.Second
	}
	if c.MaxBody <= 0 {
		c.MaxBody = 100 << 20
	}
	return c
}

// check refuses models that cannot be served, in TensorFlow Serving's words.
func check(models []Model) error {
	seen := map[string]bool{}
	for _, m := range models {
		switch {
		case m.Name == "":
			return tf.Errorf(tf.InvalidArgument, "a model must have a name; base path %q has none", m.BasePath)
		case !utf8.ValidString(m.Name): // protocol buffers and metrics could not have it
			return tf.Errorf(tf.InvalidArgument, "the name of a model must be UTF-8, got %q", m.Name)
		case seen[m.Name]:
			return tf.Errorf(tf.InvalidArgument, "Illegal to list model %s multiple times in config list", m.Name)
		case m.FS == nil && !absolute(m.BasePath):
			return tf.Errorf(tf.InvalidArgument, "Expected model %s to have an absolute path or URI; got base_path()=%s", m.Name, m.BasePath)
		case !isShare(m.Canary.Share):
			return tf.Errorf(tf.InvalidArgument, "the share of a canary must be from 0 to 1, model %s has %v", m.Name, m.Canary.Share)
		case !m.Canary.labeled(&m):
			return tf.Errorf(tf.InvalidArgument, "the label of a canary must be one of the model's, model %s has none that is %q", m.Name, m.Canary.Label)
		case !isShare(m.Log.Share):
			return tf.Errorf(tf.InvalidArgument, "the share of requests that are logged must be from 0 to 1, model %s has %v", m.Name, m.Log.Share)
		case m.Log.Share > 0 && m.Log.Prefix == "":
			return tf.Errorf(tf.InvalidArgument, "a request log must have a prefix for the names of its files, that of model %s has none", m.Name)
		}
		seen[m.Name] = true
	}
	return nil
}

func isShare(x float64) bool { return 0 <= x && x <= 1 }

// labeled reports whether c is none, or its label one of m's.
func (c *Canary) labeled(m *Model) bool {
	_, found := m.Labels[c.Label]
	return found || *c == Canary{}
}

// absolute reports whether a path is absolute, or the URI of a local file.
func absolute(path string) bool {
	return filepath.IsAbs(path) || strings.HasPrefix(path, "file://")
}
