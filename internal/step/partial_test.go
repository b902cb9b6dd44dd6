package step

import (
	"strings"
	"testing"

	"github.com/gorge-tf/gorge/internal/graph"
	"github.com/gorge-tf/gorge/internal/graph/source"
	"github.com/gorge-tf/gorge/internal/pass"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/ops"
)

// pieces is r1 = a+b, r2 = r1*c, r3 = r2+1 with r2 fed, as TensorFlow's own test
// has it and more.
func pieces(t *testing.T) *graph.Graph {
	t.Helper()
	g := tf.NewGraph()
	scalar := func(name string) tf.Output { return ops.Placeholder(g, core.Float32, core.Shape{}, tf.Name(name)) }
	a, b, c := scalar("a"), scalar("b"), scalar("c")
	r1 := ops.Add(a, b, tf.Name("r1"))
	r2 := ops.Mul(r1, c, tf.Name("r2"))
	ops.Neg(r2, tf.Name("r3"))
	ops.Identity(a, tf.Name("r4"), tf.After(c.Operation()))
	if err := g.Err(); err != nil {
		t.Fatal(err)
	}
	return source.Graph(g.Operations(), nil, core.ProducerVersion)
}

type piece struct {
	feeds, fetches string
	last           bool
	err            string
}

func TestPartial(t *testing.T) {
	abc := []string{"a:0", "b:0", "c"}
	for name, c := range map[string]struct {
		sig    pass.Signature
		pieces []piece
	}{
		"in two": {pass.Signature{Feeds: abc, Fetches: []string{"r1:0", "r2:0"}}, []piece{
			{"a:0 b:0", "r1:0", false, ""},
			{"c:0", "r2:0", true, ""},
		}},
		"feeds first": {pass.Signature{Feeds: abc, Fetches: []string{"r2"}}, []piece{
			{"a:0", "", false, ""}, {"b c", "", false, ""}, {"", "r2:0", true, ""},
		}},
		"refused pieces change nothing": {pass.Signature{Feeds: abc, Fetches: []string{"r1:0", "r2:0"}}, []piece{
			{"a:0", "r1:0", false, "Fetch b:0 can't be computed from the feeds that have been fed so far."},
			{"a:0 b:0 x:0", "r1:0", false, "The feed x:0 was not specified in partial_run_setup."},
			{"a:0 b:0", "r1:0 r3:0", false, "The fetch r3:0 was not specified in partial_run_setup."},
			{"a:0 b:0", "r1:0", false, ""},
			{"a:0 c:0", "r2:0", false, "The feed a:0 has already been fed."},
			{"c:0", "r1:0", false, "The fetch r1:0 has already been fetched."},
			{"c:0 c:0", "r2:0", false, "The feed c:0 has already been fed."},
			{"c:0", "r2:0", true, ""},
		}},
		"what lies behind a feed": {pass.Signature{Feeds: []string{"r2:0", "a:0"}, Fetches: []string{"r3:0", "r1:0"}}, []piece{
			{"r2:0", "r3:0", false, ""},
			{"", "r1:0", false, "Fetch a:0 can't be computed"},
			{"a:0", "r1:0", true, ""},
		}},
		"a feed is fetched": {pass.Signature{Feeds: []string{"a:0", "r1:0"}, Fetches: []string{"a:0", "r1:0"}}, []piece{
			{"", "a:0", false, "Fetch a:0 can't be computed"},
			{"r1:0", "r1:0", false, ""},
			{"a:0", "a:0", true, ""},
		}},
		"a feed is waited for": {pass.Signature{Feeds: []string{"a:0", "c:0"}, Fetches: []string{"r4:0"}}, []piece{
			{"a:0", "r4:0", false, "Fetch c:0 can't be computed"},
			{"a:0 c:0", "r4:0", true, ""},
		}},
		"not a name": {pass.Signature{Fetches: []string{"r1:0"}}, []piece{{"a:b", "", false, "a:b"}}},
	} {
		t.Run(name, func(t *testing.T) {
			p, err := NewPartial(pieces(t), c.sig)
			if err != nil {
				t.Fatal(err)
			}
			for i, x := range c.pieces {
				last, err := p.Take(strings.Fields(x.feeds), strings.Fields(x.fetches))
				switch {
				case x.err == "" && err != nil, x.err != "" && (err == nil || !strings.Contains(err.Error(), x.err)):
					t.Errorf("piece %d: error %v, want %q", i, err, x.err)
				case last != x.last || p.Done() != x.last:
					t.Errorf("piece %d: last is %v, done %v", i, last, p.Done())
				}
			}
		})
	}
}

func TestNewPartialRefuses(t *testing.T) {
	for _, sig := range []pass.Signature{{Feeds: []string{"q:0"}}, {Fetches: []string{"a:1"}}, {Fetches: []string{"a:x"}}} {
		if _, err := NewPartial(pieces(t), sig); err == nil {
			t.Errorf("%v: no error", sig)
		}
	}
}
