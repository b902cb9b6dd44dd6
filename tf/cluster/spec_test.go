package cluster

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/proto"

	"github.com/gorge-tf/gorge/internal/remote"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/pb"
)

func TestParseSpec(t *testing.T) {
	for text, want := range map[string]Spec{
		"local|localhost:2222":               {"local": {"localhost:2222"}},
		"worker|a:1;b:2,ps|c:3":              {"worker": {"a:1", "b:2"}, "ps": {"c:3"}},
		"worker|;b:2":                        {"worker": {"", "b:2"}},
		"w_1|[::1]:0":                        {"w_1": {"[::1]:0"}},
		"ps|10.0.0.1:65535;ps.example.com:1": {"ps": {"10.0.0.1:65535", "ps.example.com:1"}},
	} {
		got, err := ParseSpec(text)
		if d := cmp.Diff(want, got); err != nil || d != "" {
			t.Errorf("ParseSpec(%q): %v (-want +got):\n%s", text, err, d)
		}
		again, err := ParseSpec(got.String())
		if d := cmp.Diff(want, again); err != nil || d != "" {
			t.Errorf("ParseSpec(%q), which is its text: %v\n%s", got, err, d)
		}
		back, err := specFromProto(remote.SpecProto(want))
		if d := cmp.Diff(want, back); err != nil || d != "" {
			t.Errorf("%q as a message: %v\n%s", text, err, d)
		}
	}
}

func TestParseSpecRefuses(t *testing.T) {
	for text, want := range map[string]string{
		"":                   "job|host:port",
		"worker":             "job|host:port",
		"worker|a:1,":        "job|host:port",
		"worker|a:1,worker|": "listed once",
		"1|a:1":              `a job's name must consist of letters, digits and underscores and begin with a letter, got "1"`,
		"|a:1":               "a job's name",
		"worker|a":           `task 0 of job "worker": an address must have the form host:port, got "a"`,
		"worker|a:1;:2":      `task 1 of job "worker": an address must have the form host:port, got ":2"`,
		"worker|a:x":         `a port must be a number up to 65535, got "x"`,
		"worker|a:70000":     "65535",
		"worker|a:1:2":       "host:port",
	} {
		_, err := ParseSpec(text)
		if tf.CodeOf(err) != tf.InvalidArgument || !strings.Contains(tf.AsError(err).Message(), want) {
			t.Errorf("ParseSpec(%q) = %v, want InvalidArgument: ...%s...", text, err, want)
		}
	}
}

func FuzzParseSpec(f *testing.F) {
	f.Add("worker|a:1;b:2,ps|c:3")
	f.Add("|;,")
	f.Fuzz(func(t *testing.T, text string) {
		s, err := ParseSpec(text)
		if err != nil {
			return
		}
		again, err := ParseSpec(s.String())
		if d := cmp.Diff(s, again); err != nil || d != "" {
			t.Errorf("ParseSpec(%q) does not survive its text %q: %v\n%s", text, s, err, d)
		}
	})
}

func TestAddress(t *testing.T) {
	s := Spec{"ps": {"a:1", "", "c:3"}}
	if got, err := s.Address("ps", 2); got != "c:3" || err != nil {
		t.Errorf("Address(ps, 2) = %q, %v", got, err)
	}
	for _, c := range []struct {
		job  string
		task int
		want string
	}{
		{"x", 0, `Job "x" was not defined in cluster`},
		{"ps", 3, `Task 3 was not defined in job "ps"`},
		{"ps", 1, `Task 1 was not defined in job "ps"`},
		{"ps", -1, `Task -1 was not defined in job "ps"`},
	} {
		_, err := s.Address(c.job, c.task)
		if tf.CodeOf(err) != tf.Internal || tf.AsError(err).Message() != c.want {
			t.Errorf("Address(%s, %d) = %v, want Internal: %s", c.job, c.task, err, c.want)
		}
	}
}

func TestTasks(t *testing.T) {
	s := Spec{"worker": {"w:0", "w:1", "w:2", "w:3", "w:4", "w:5", "w:6", "w:7", "w:8", "w:9", "w:10"}, "ps": {"", "p:1"}}
	got := s.tasks()
	if len(got) != 12 || got[0] != "/job:ps/replica:0/task:1" || got[11] != "/job:worker/replica:0/task:10" {
		t.Errorf("tasks = %v, want them in the order of their numbers", got)
	}
	find := addressBook(s)
	if addr, err := find("/job:worker/replica:0/task:10"); addr != "w:10" || err != nil {
		t.Errorf("address of worker 10 = %q, %v", addr, err)
	}
	if _, err := find("/job:ps/replica:0/task:0"); tf.CodeOf(err) != tf.NotFound {
		t.Errorf("address of a task that is left out: %v, want a NotFound error", err)
	}
}

func serverDef(edit func(*pb.ServerDef)) []byte {
	def := &pb.ServerDef{
		Cluster: remote.SpecProto(Spec{"ps": {"localhost:0"}, "worker": {"", "localhost:7"}}), JobName: "worker", TaskIndex: 1, Protocol: "grpc",
		DefaultSessionConfig: &pb.ConfigProto{DeviceCount: map[string]int32{"CPU": 3, "GPU": 1}, IntraOpParallelismThreads: 2},
	}
	edit(def)
	data, err := proto.Marshal(def)
	if err != nil {
		panic(err)
	}
	return data
}

func TestFromServerDef(t *testing.T) {
	c, err := FromServerDef(serverDef(func(*pb.ServerDef) {}))
	if err != nil {
		t.Fatal(err)
	}
	if c.Job != "worker" || c.Task != 1 || c.Protocol != "grpc" || c.Threads != 2 || c.Cluster["worker"][1] != "localhost:7" {
		t.Errorf("configuration %+v", c)
	}
	if d := cmp.Diff(map[string]int{"CPU": 3}, c.Devices); d != "" {
		t.Errorf("devices (-want +got):\n%s", d)
	}
	c, err = FromServerDef(serverDef(func(d *pb.ServerDef) { d.Port = 99 }))
	if err != nil || c.Cluster["worker"][1] != "localhost:99" {
		t.Errorf("with a port of its own: %v, %v", c.Cluster, err)
	}
}

func TestFromServerDefRefuses(t *testing.T) {
	for name, c := range map[string]struct {
		data []byte
		code tf.Code
		text string
	}{
		"no message":      {[]byte("{}"), tf.InvalidArgument, "tensorflow.ServerDef"},
		"no cluster":      {nil, tf.InvalidArgument, "at least one job"},
		"a replica":       {serverDef(func(d *pb.ServerDef) { d.Replica = 1 }), tf.Unimplemented, "replica 0"},
		"no such job":     {serverDef(func(d *pb.ServerDef) { d.JobName = "q"; d.Port = 1 }), tf.Internal, `Job "q"`},
		"a job twice":     {serverDef(func(d *pb.ServerDef) { d.Cluster.Job[1].Name = "ps" }), tf.InvalidArgument, "listed once"},
		"negative number": {serverDef(func(d *pb.ServerDef) { d.Cluster.Job[0].Tasks = map[int32]string{-1: "a:1"} }), tf.InvalidArgument, "from 0"},
		"a huge number":   {serverDef(func(d *pb.ServerDef) { d.Cluster.Job[0].Tasks = map[int32]string{1 << 30: "a:1"} }), tf.InvalidArgument, "from 0"},
		"many numbers":    {serverDef(func(d *pb.ServerDef) { d.Cluster.Job[0].Tasks[1<<20-1], d.Cluster.Job[1].Tasks[1<<20-1] = "a:1", "a:2" }), tf.InvalidArgument, "at most 1048576"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := FromServerDef(c.data)
			if tf.CodeOf(err) != c.code || !strings.Contains(tf.AsError(err).Message(), c.text) {
				t.Errorf("FromServerDef = %v, want %v: ...%s...", err, c.code, c.text)
			}
		})
	}
}
