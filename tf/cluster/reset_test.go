package cluster_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/session"
)

// contained has a variable in each of some containers of two tasks.
type contained struct {
	g    *tf.Graph
	set  []tf.Fetchable
	read map[string]tf.Output // by task and container
}

func inContainers() *contained {
	c := &contained{g: tf.NewGraph(), read: map[string]tf.Output{}}
	for _, task := range []string{"ps", "worker"} {
		for _, name := range []string{"", "a", "b"} {
			h := ops.VarHandleOp(c.g, tf.Float32, tf.Shape{}, ops.VarHandleOpts{Container: name, SharedName: "v"}, tf.OnDevice("/job:"+task))
			c.set = append(c.set, ops.AssignVariableOp(h, ops.Scalar[float32](c.g, 1)))
			c.read[task+"/"+name] = ops.ReadVariableOp(h, tf.Float32)
		}
	}
	return c
}

// gone returns which variables have no value.
func (c *contained) gone(t *testing.T, target string) string {
	t.Helper()
	s := open(t, c.g, target)
	var out []string
	for _, name := range slices.Sorted(maps.Keys(c.read)) {
		_, err := s.Run(t.Context(), nil, c.read[name])
		if err != nil {
			out = append(out, name)
		}
		if code := tf.CodeOf(err); code != tf.OK && code != tf.FailedPrecondition {
			t.Errorf("%s: %v", name, err)
		}
	}
	return strings.Join(out, " ")
}

// TestResetContainers: the variables in the containers that are named are gone, in the
// default ones if none is, and so are all sessions. It makes no difference whether the
// server is in this process.
func TestResetContainers(t *testing.T) {
	target := start(t, map[string]int{"ps": 1, "worker": 1}).servers["worker:0"].Target()
	c := inContainers()
	for _, by := range []string{target, strings.Replace(target, "127.0.0.1", "localhost", 1)} {
		s := open(t, c.g, target)
		if _, err := s.Run(t.Context(), nil, c.set...); err != nil {
			t.Fatal(err)
		}
		if got := c.gone(t, target); got != "" {
			t.Fatalf("of new variables %s are gone", got)
		}
		for _, r := range []struct {
			containers []string
			options    []session.Option
			want       string
		}{
			{[]string{"a"}, []session.Option{session.DeviceFilters("/job:worker")}, "worker/a"},
			{[]string{"a", "none"}, nil, "ps/a worker/a"},
			{nil, nil, "ps/ ps/a worker/ worker/a"},
			{[]string{"b"}, nil, "ps/ ps/a ps/b worker/ worker/a worker/b"},
		} {
			if err := session.Reset(t.Context(), by, r.containers, r.options...); err != nil {
				t.Fatal(err)
			}
			if got := c.gone(t, target); got != r.want {
				t.Errorf("after a reset of %q variables %q are gone, want %q", r.containers, got, r.want)
			}
		}
		if _, err := s.Run(t.Context(), nil, c.set...); tf.CodeOf(err) != tf.Aborted {
			t.Errorf("a session from before: %v", err)
		}
	}
}

// TestResetOfNoServer: a server that does not answer is waited for as long as is said.
func TestResetOfNoServer(t *testing.T) {
	lis := listen(t)
	defer lis.Close()
	err := session.Reset(t.Context(), "grpc://"+lis.Addr().String(), nil, session.StartTimeout(1))
	if tf.CodeOf(err) != tf.DeadlineExceeded {
		t.Error(err)
	}
}
