package sessionstate_test

import (
	"embed"
	"strings"
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/cluster"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/ops/sessionstate"
	"github.com/gorge-tf/gorge/tf/optest"
	"github.com/gorge-tf/gorge/tf/session"
)

//go:embed testdata/golden
var golden embed.FS

func TestOps(t *testing.T) { optest.Run(t, golden) }

func init() {
	for _, op := range []string{"GetSessionHandle", "GetSessionHandleV2", "GetSessionTensor", "DeleteSessionTensor"} {
		optest.Unsampled(op, "what is kept is of use to later steps only")
	}
}

// targets are a session in this process and one on a server.
func targets(t *testing.T) map[string]string {
	s, err := cluster.NewServer(cluster.Local("127.0.0.1:0"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Stop() })
	if err := s.Start(); err != nil {
		t.Fatal(err)
	}
	return map[string]string{"here": "", "on a server": strings.Replace(s.Target(), "127.0.0.1", "localhost", 1)}
}

// One step makes a value and keeps it, others compute with it, the last gives it
// up.
func TestTensorsStayFromStepToStep(t *testing.T) {
	for name, target := range targets(t) {
		t.Run(name, func(t *testing.T) {
			g := tf.NewGraph(tf.Strict())
			x := ops.Placeholder(g, tf.Float32, nil)
			keep := sessionstate.GetSessionHandle(ops.Mul(x, x), tf.Name("keep"))
			other := sessionstate.GetSessionHandle(x, tf.Name("other"))
			handle := ops.Placeholder(g, tf.String, tf.Shape{})
			value := sessionstate.GetSessionTensor(handle, tf.Float32)
			wrong := sessionstate.GetSessionTensor(handle, tf.Int32)
			double := ops.AddV2(value, value)
			drop := sessionstate.DeleteSessionTensor(handle)
			s, err := session.New(g, session.Target(target))
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			kept := func(v ...float32) *core.Tensor {
				in, err := core.FromSlice(v, len(v))
				if err != nil {
					t.Fatal(err)
				}
				got, err := s.Run(t.Context(), session.Feeds{x: (*tf.Tensor)(in)}, keep)
				if err != nil {
					t.Fatal(err)
				}
				return (*core.Tensor)(got[0])
			}
			a, b := kept(2, 3), kept(4)
			if h := a.At(0).(string); !strings.HasPrefix(h, "keep;0;/job:localhost/replica:0/task:0/device:CPU:0") || h == b.At(0) {
				t.Errorf("the handles are %q and %q", h, b.At(0))
			}
			for range 2 {
				got, err := session.Fetch[float32](t.Context(), s, session.Feeds{handle: (*tf.Tensor)(a)}, double)
				if err != nil || len(got) != 2 || got[0] != 8 || got[1] != 18 {
					t.Errorf("twice what was kept is %v, %v", got, err)
				}
			}
			if _, err := s.Run(t.Context(), session.Feeds{handle: (*tf.Tensor)(a)}, wrong); tf.CodeOf(err) != tf.InvalidArgument {
				t.Errorf("as another type: %v", err)
			}
			// What is not fetched is not kept.
			if _, err := s.Run(t.Context(), session.Feeds{x: (*tf.Tensor)(core.Scalar(float32(1)))}, other.Operation()); err != nil {
				t.Fatal(err)
			}
			for _, h := range []string{"other;2;/job:localhost/replica:0/task:0/device:CPU:0", "nothing"} {
				_, err := s.Run(t.Context(), session.Feeds{handle: (*tf.Tensor)(core.Scalar(h))}, value)
				if tf.CodeOf(err) != tf.InvalidArgument || !strings.Contains(err.Error(), "The tensor with handle '"+h+"' is not in the session store.") {
					t.Errorf("a handle of nothing: %v", err)
				}
			}
			if _, err := s.Run(t.Context(), session.Feeds{handle: (*tf.Tensor)(a)}, drop); err != nil {
				t.Errorf("giving it up: %v", err)
			}
			if _, err := s.Run(t.Context(), session.Feeds{handle: (*tf.Tensor)(a)}, drop); tf.CodeOf(err) != tf.InvalidArgument || !strings.Contains(err.Error(), "Failed to delete a tensor with handle") {
				t.Errorf("giving it up twice: %v", err)
			}
			if got, err := session.Fetch[float32](t.Context(), s, session.Feeds{handle: (*tf.Tensor)(b)}, value); err != nil || got[0] != 16 {
				t.Errorf("the other one is %v, %v", got, err)
			}
		})
	}
}
