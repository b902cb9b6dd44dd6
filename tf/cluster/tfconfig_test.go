package cluster_test

import (
	"strings"
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/cluster"
)

func TestFromTFConfig(t *testing.T) {
	for _, c := range []struct {
		text string
		want string // the cluster, job and task
	}{
		{`{"cluster": {"ps": ["a:1"], "worker": ["b:1", "c:1"]}, "task": {"type": "worker", "index": 1}}`, "ps|a:1,worker|b:1;c:1 worker 1"},
		{`{"cluster": {"chief": ["a:1"]}, "task": {"type": "chief"}}`, "chief|a:1 chief 0"},
		{`{"cluster": {"worker": {"2": "c:1", "0": "a:1"}}, "task": {"type": "worker", "index": "2"}, "rpc_layer": "grpc+verbs"}`, "worker|a:1;;c:1 worker 2"},
	} {
		got, err := cluster.FromTFConfig(c.text)
		if err != nil {
			t.Errorf("%s: %v", c.text, err)
			continue
		}
		if s := got.Cluster.String() + " " + got.Job + " " + string(rune('0'+got.Task)); s != c.want {
			t.Errorf("%s: got %s, want %s", c.text, s, c.want)
		}
	}
}

func TestFromTFConfigRefuses(t *testing.T) {
	for text, want := range map[string]string{
		``:                                 "must be JSON text",
		`[]`:                               "must be JSON text",
		`{}`:                               "at least one job",
		`{"cluster": {"w": "a:1"}}`:        "list of addresses",
		`{"cluster": {"w": {"x": "a:1"}}}`: `got "x"`,
		`{"cluster": {"w": {"99999999": "a:1"}}}`:                            "99999999",
		`{"cluster": {"w": ["a"]}, "task": {"type": "w"}}`:                   "host:port",
		`{"cluster": {"w": ["a:1"]}}`:                                        "which task this is",
		`{"cluster": {"w": ["a:1"]}, "task": {"type": "w", "index": "one"}}`: "must be a number",
		`{"cluster": {"w": ["a:1"]}, "task": {"type": "w", "index": 1}}`:     `Task 1 was not defined in job "w"`,
		`{"cluster": {"w": ["a:1"]}, "task": {"type": "evaluator"}}`:         `Job "evaluator" was not defined in cluster`,
	} {
		_, err := cluster.FromTFConfig(text)
		if err == nil || !strings.Contains(tf.AsError(err).Message(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}

func FuzzFromTFConfig(f *testing.F) {
	f.Add(`{"cluster": {"ps": ["a:1"], "worker": {"1": "b:1"}}, "task": {"type": "worker", "index": 1}}`)
	f.Fuzz(func(t *testing.T, text string) {
		c, err := cluster.FromTFConfig(text)
		if err != nil {
			return
		}
		if _, err := c.Cluster.Address(c.Job, c.Task); err != nil {
			t.Errorf("%s: the task is not in its cluster: %v", text, err)
		}
	})
}
