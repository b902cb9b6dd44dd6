package tf_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

// stricter lists specs that TensorFlow's Python class lets through or refuses,
// while the runtime's parser, whose rule is ours, decides otherwise.
var stricter = map[string]string{
	"/device:GPU": "/device:GPU:*", "/job:*/task:*": "", "/job:1a": "!", "/job:": "!", "/task:-1": "!",
}

func TestParseDeviceAsTensorFlow(t *testing.T) {
	for s, p := range golden.Devices {
		want := "!" // an error
		if p != nil {
			want = *p
		}
		if w, ok := stricter[s]; ok {
			want = w
		}
		d, err := tf.ParseDevice(s)
		if err != nil {
			if want != "!" || core.CodeOf(err) != core.InvalidArgument || !strings.Contains(err.Error(), "Malformed device specification '"+s+"'") {
				t.Errorf("ParseDevice(%q): %v, want %q", s, err, want)
			}
			continue
		}
		if d.String() != want {
			t.Errorf("ParseDevice(%q) is %q, want %q", s, d, want)
		}
	}
}

// TestDeviceTypesAsWritten: programs may write CPU and GPU in small letters, messages in
// the short form only.
func TestDeviceTypesAsWritten(t *testing.T) {
	for s, want := range map[string][2]string{ // of programs, of messages
		"/device:cpu:0": {"/device:CPU:0", "/device:cpu:0"}, "/job:a/device:gpu:*": {"/job:a/device:GPU:*", "/job:a/device:gpu:*"},
		"/cpu:1": {"/device:CPU:1", "/device:CPU:1"}, "/GPU:1": {"/device:GPU:1", "/device:GPU:1"}, "/device:tpu:3": {"/device:tpu:3", "/device:tpu:3"},
	} {
		p, err := tf.ParseDevice(s)
		if err != nil {
			t.Fatal(err)
		}
		if got := [2]string{p.String(), parse(t, s).String()}; got != want {
			t.Errorf("%s is %q, want %q", s, got, want)
		}
	}
	g := tf.NewGraph()
	if op := tf.Apply(g, "NoOp", nil, tf.OnDevice("/device:cpu:0")); op.Device != "/device:CPU:0" || g.Err() != nil {
		t.Errorf("an operation goes to %q, %v", op.Device, g.Err())
	}
}

func parse(t *testing.T, s string) core.DeviceSpec {
	t.Helper()
	d, err := core.ParseDevice(s)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func TestMergeDevices(t *testing.T) {
	for _, c := range []struct{ a, b, merged string }{ // merged "!": they disagree
		{"", "", ""}, {"/job:a", "", "/job:a"}, {"/job:a", "/task:1", "/job:a/task:1"}, {"/job:a", "/job:a/task:1", "/job:a/task:1"},
		{"/job:a", "/job:b", "!"}, {"/task:0", "/task:1", "!"}, {"/device:CPU:0", "/device:GPU:0", "!"}, {"/device:CPU:0", "/device:CPU:*", "/device:CPU:0"},
		{"/replica:0", "/replica:1", "!"}, {"/device:*:1", "/device:CPU:*", "/device:CPU:1"},
	} {
		for _, order := range [][2]string{{c.a, c.b}, {c.b, c.a}} {
			got, ok := parse(t, order[0]).Merge(parse(t, order[1]))
			if ok != (c.merged != "!") || ok && got.String() != c.merged {
				t.Errorf("%q and %q are %q, %v together; want %q", order[0], order[1], got, ok, c.merged)
			}
		}
	}
}

func TestMatchingDevices(t *testing.T) {
	full := parse(t, "/job:ps/replica:0/task:1/device:CPU:0")
	if !full.Full() || parse(t, "/job:ps").Full() || full.TaskName() != "/job:ps/replica:0/task:1" {
		t.Errorf("full %v, partial %v, task %q", full.Full(), parse(t, "/job:ps").Full(), full.TaskName())
	}
	for s, want := range map[string]bool{
		"": true, "/job:ps": true, "/task:1/cpu:0": true, "/task:0": false, "/job:worker": false, "/device:GPU:0": false,
		"/device:CPU:1": false, "/device:CPU:*": true,
	} {
		if parse(t, s).Matches(full) != want {
			t.Errorf("%q matches: %v", s, !want)
		}
	}
}

func TestDeviceScopesAsTensorFlow(t *testing.T) {
	for _, row := range golden.Scopes {
		nest, want := decode[[]string](t, row[0]), decode[string](t, row[1])
		g := tf.NewGraph()
		var got string
		var within func([]string)
		within = func(rest []string) {
			if len(rest) == 0 {
				got = tf.Apply(g, "NoOp", nil).Device
				return
			}
			g.Device(rest[0], func() { within(rest[1:]) })
		}
		within(nest)
		if got != want || g.Err() != nil {
			t.Errorf("within %q an operation goes to %q, want %q (%v)", nest, got, want, g.Err())
		}
	}
}

func TestDeviceOptionsOverrideScopes(t *testing.T) {
	g := tf.NewGraph()
	var plain, moved *tf.Operation
	g.Device("/job:a/task:1", func() {
		plain = tf.Apply(g, "NoOp", nil)
		moved = tf.Apply(g, "NoOp", nil, tf.OnDevice("/task:2/cpu:0"))
	})
	if plain.Device != "/job:a/task:1" || moved.Device != "/job:a/task:2/device:CPU:0" {
		t.Errorf("got %q and %q", plain.Device, moved.Device)
	}
}

func TestDeviceFunctionsGiveWay(t *testing.T) {
	g := tf.NewGraph()
	var asked []string
	var free, bound *tf.Operation
	g.DeviceFunc(func(n *core.Node) string {
		asked = append(asked, n.Name+" on "+n.Device)
		return "/job:ps/task:3"
	}, func() {
		free = tf.Apply(g, "NoOp", nil)
		bound = tf.Apply(g, "NoOp", nil, tf.OnDevice("/job:worker"))
	})
	after := tf.Apply(g, "NoOp", nil)
	if free.Device != "/job:ps/task:3" || bound.Device != "/job:worker/task:3" || after.Device != "" {
		t.Errorf("got %q, %q and, outside, %q", free.Device, bound.Device, after.Device)
	}
	if strings.Join(asked, "; ") != "NoOp on ; NoOp_1 on /job:worker" {
		t.Errorf("the function was asked for %q", asked)
	}
}

func TestMalformedDevicesAreErrors(t *testing.T) {
	for name, add := range map[string]func(*tf.Graph){
		"option": func(g *tf.Graph) { tf.Apply(g, "NoOp", nil, tf.OnDevice("/nonsense")) },
		"scope":  func(g *tf.Graph) { g.Device("/nonsense", func() {}) },
		"function": func(g *tf.Graph) {
			g.DeviceFunc(func(*core.Node) string { return "/nonsense" }, func() { tf.Apply(g, "NoOp", nil) })
		},
	} {
		g := tf.NewGraph()
		add(g)
		if err := g.Err(); err == nil || !strings.Contains(err.Error(), "Malformed device specification '/nonsense'") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func FuzzParseDevice(f *testing.F) {
	for s := range golden.Devices {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		d, err := core.ParseDevice(s)
		if err != nil {
			return
		}
		again, err := core.ParseDevice(d.String())
		if err != nil || again != d {
			t.Errorf("%q is %+v, its text %q is %+v (%v)", s, d, d, again, err)
		}
		if m, ok := d.Merge(d); !ok || m != d {
			t.Errorf("%q does not merge with itself: %v", s, m)
		}
		if _, err := json.Marshal(d); err != nil {
			t.Error(err)
		}
	})
}
