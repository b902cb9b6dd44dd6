package main

import (
	"bytes"
	"context"
	"flag"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gorge-tf/gorge/tf/cluster"
)

// TestWrongFlagIsSeen: the error stands alone, and help comes when it is asked for.
func TestWrongFlagIsSeen(t *testing.T) {
	for _, command := range []string{"serve", "devices", "doctor", "checkpoint", "events ls", "savedmodel run", "graph explain", "model-server"} {
		var stderr bytes.Buffer
		if run(t.Context(), strings.Fields(command+" --no_such_flag=1"), io.Discard, &stderr) == 0 {
			t.Errorf("gorge %s took a wrong flag", command)
		}
		text := strings.TrimSpace(stderr.String())
		name := strings.TrimSuffix(command, " ls")
		if strings.Contains(text, "\n") || !strings.Contains(text, "not defined: -no_such_flag") || !strings.Contains(text, name+" -h lists the flags") {
			t.Errorf("gorge %s says:\n%s", command, text)
		}
	}
	for _, command := range []string{"serve", "devices", "doctor", "checkpoint", "checkpoint show", "events", "events ls", "savedmodel", "savedmodel run", "graph", "model-server"} {
		for _, form := range []string{command + " -h", "help " + command} {
			var help bytes.Buffer
			if run(t.Context(), strings.Fields(form), &help, &help) != 0 || strings.Count(help.String(), "\n") < 3 || !strings.Contains(help.String(), "gorge "+strings.Fields(command)[0]) {
				t.Errorf("gorge %s says:\n%s", form, help.String())
			}
		}
	}
	says(t, 0, usage, "help", "help")
	says(t, 1, `got "nosuch"`, "help", "nosuch")
}

// TestShares: a share is a number from 0 to 1.
func TestShares(t *testing.T) {
	for _, flag := range []string{"--step_memory_share=3", "--session_memory_share=-0.1", "--trace_sample=NaN", "--request_log_share=x"} {
		says(t, 1, "a share must be a number from 0 to 1", "model-server", flag)
	}
}

// TestPorts: a port has 16 bits, and is refused before a model is loaded.
func TestPorts(t *testing.T) {
	for _, flag := range []string{"--port=99999", "--rest_api_port=65536", "--http_port=x"} {
		says(t, 1, "a port must be a number up to 65535", "model-server", "--model_base_path=nosuch", flag)
	}
}

func TestNearestFlag(t *testing.T) {
	s := flag.NewFlagSet("", flag.ContinueOnError)
	for _, name := range []string{"cluster_spec", "job_name", "task_id", "config", "log"} {
		s.String(name, "", "")
	}
	for name, want := range map[string]string{
		"cluster-spec": "cluster_spec", "clusterspec": "cluster_spec", "job": "job_name", "jobname": "job_name", "taskid": "task_id", "task": "task_id",
		"logs": "log", "xyz": "", "": "", "conf": "config",
	} {
		if got := nearestFlag(s, name); got != want {
			t.Errorf("nearest to %q is %q, want %q", name, got, want)
		}
	}
}

func TestEditDistance(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want int
	}{{"", "", 0}, {"", "abc", 3}, {"abc", "", 3}, {"kitten", "sitting", 3}, {"flaw", "lawn", 2}, {"same", "same", 0}} {
		if got := editDistance(c.a, c.b); got != c.want {
			t.Errorf("from %q to %q: %d, want %d", c.a, c.b, got, c.want)
		}
	}
}

// TestTwinsAreTold: an address that two tasks have is allowed, as in TensorFlow, and
// told of; port 0 is no address yet.
func TestTwinsAreTold(t *testing.T) {
	for spec, want := range map[string]string{
		"ps|a:1,worker|b:1;a:1": "/job:ps/task:0 /job:worker/task:1",
		"w|a:1;a:1":             "/job:w/task:0 /job:w/task:1",
		"w|a:1;b:1":             "",
		"w|a:0;a:0":             "",
	} {
		s, err := cluster.ParseSpec(spec)
		if err != nil {
			t.Fatal(err)
		}
		var log bytes.Buffer
		warnOfTwins(slog.New(slog.NewTextHandler(&log, nil)), s)
		if got := log.String(); want == "" && got != "" || !strings.Contains(got, want) {
			t.Errorf("of %s it was told %q, want %q", spec, got, want)
		}
	}
}

// TestFlagsOfFiles: in a file, too, only switches stand without a value.
func TestFlagsOfFiles(t *testing.T) {
	path := filepath.Join(t.TempDir(), "flags")
	for text, want := range map[string]string{
		"job_name\n":                "line 1: INVALID_ARGUMENT: flag needs an argument: -job_name",
		"no_links\nroles # later\n": "line 2: INVALID_ARGUMENT: flag needs an argument: -roles",
		"nosuch\n":                  "line 1: no such flag -nosuch",
		"threads=3\nconfig more\n":  "line 2: INVALID_ARGUMENT: a file of flags cannot name another one",
	} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := parseServe([]string{"--config", path}, io.Discard); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
	if err := os.WriteFile(path, []byte("no_links\njob_name=\ndeny_ops = \nlog info\nthreads=3\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := parseServe([]string{"--config", path}, io.Discard)
	if err != nil || !f.noLinks || f.job != "" || f.confine.deny != "" || f.threads != 3 {
		t.Errorf("flags %+v, %v", f, err)
	}
}

// TestLongTimes: times of more than a Duration holds are long, not negative.
func TestLongTimes(t *testing.T) {
	dir := t.TempDir()
	f, err := parseModelServer([]string{"--model_base_path=" + dir, "--model_config_file=" + filepath.Join(dir, "none"), "--file_system_poll_wait_seconds=18446744074",
		"--load_retry_interval_micros=9223372036854775807", "--rest_api_timeout_in_ms=18446744073710", "--model_config_file_poll_wait_seconds=10000000000"}, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	c, _ := f.serverConfig() // there is no such file of models
	for _, d := range []time.Duration{c.Poll, c.RetryInterval, c.RequestTimeout} {
		if d < 1000*time.Hour {
			t.Errorf("a time of more than 500 years is %v", d)
		}
	}
	ended, stop := context.WithCancel(t.Context())
	stop()
	(&modelProcess{flags: f}).follow(ended, nil)
}

// TestFlagsThatNeedOthers: a flag is refused that has no effect without another one,
// also of a file, and is taken where its value is the preset.
func TestFlagsThatNeedOthers(t *testing.T) {
	for _, c := range []struct{ args, want string }{
		{"serve --http_profile", "-http_profile has no effect without -http_port"},
		{"serve --http_profile --http_port=0", "-http_profile has no effect without -http_port"},
		{"serve --http_host=a --trace_endpoint=b:1", "-http_host has no effect without -http_port"},
		{"serve --slow_call=2s", "-slow_call has no effect without -http_port"},
		{"serve --trace_sample=0.5", "-trace_sample has no effect without -trace_endpoint"},
		{"serve --trace_plain --http_port=1", "-trace_plain has no effect without -trace_endpoint"},
		{"serve --tls_min_version=1.3", "-tls_min_version has no effect without a certificate or a CA"},
		{"serve --tls_reload=1s", "-tls_reload has no effect without a file"},
		{"serve --rdma=soft", "have no effect without -protocol=grpc+verbs"},
		{"serve --rdma_generation=1 --protocol=grpc", "have no effect without -protocol=grpc+verbs"},
		{"model-server --model_base_path=a --http_profile", "-http_profile has no effect without -http_port"},
		{"model-server --model_base_path=a --request_log_share=0.5", "-request_log_share has no effect without -request_log_prefix"},
		{"devices --tls_min_version=1.3 a:1", "-tls_min_version has no effect without a certificate or a CA"},
		{"doctor --rdma=soft", "-rdma has no effect without -rdma_listen or -rdma_ping"},
		{"doctor --tls_ca=a", "-tls_ca has no effect without -cluster_spec"},
		{"doctor --rdma_ping=a:1 --cluster_spec=w|a:1", "-cluster_spec excludes -rdma_listen and -rdma_ping"},
	} {
		says(t, 1, "INVALID_ARGUMENT: ", strings.Fields(c.args)...)
		says(t, 1, c.want, strings.Fields(c.args)...)
	}
	path := filepath.Join(t.TempDir(), "flags")
	if err := os.WriteFile(path, []byte("http_profile\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	says(t, 1, "-http_profile has no effect without -http_port", "serve", "--config="+path)
	for _, args := range []string{"--http_profile=false --trace_sample=0", "--config=" + path + " --http_port=-1", "--trace_sample=1 --trace_endpoint=a:1"} {
		if _, err := parseServe(strings.Fields(args), io.Discard); err != nil {
			t.Errorf("%s: %v", args, err)
		}
	}
}

// TestTaskOfTFConfig: a task of the command line does not give way to TF_CONFIG in silence.
func TestTaskOfTFConfig(t *testing.T) {
	t.Setenv("TF_CONFIG", `{"cluster": {"worker": ["127.0.0.1:0"]}, "task": {"type": "worker", "index": 0}}`)
	says(t, 1, "-job_name and -task_id need -cluster_spec", "serve", "--task_id=1")
}
