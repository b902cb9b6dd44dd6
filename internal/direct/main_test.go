package direct

import (
	"context"
	"testing"

	"github.com/gorge-tf/gorge/internal/device"
	"github.com/gorge-tf/gorge/internal/leaktest"
	"github.com/gorge-tf/gorge/internal/pass"
	"github.com/gorge-tf/gorge/internal/step"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

func TestMain(m *testing.M) { leaktest.Main(m) }

func open(t testing.TB, g *tf.Graph, cpus int, disabled ...string) *Session {
	t.Helper()
	if err := g.Err(); err != nil {
		t.Fatal(err)
	}
	s := New(g, Config{Devices: device.CPUs("localhost", 0, cpus), Threads: 1, Build: step.BuildOptions{Disabled: disabled}})
	t.Cleanup(func() { s.Close() })
	return s
}

// fetch runs a step for some outputs.
func fetch(ctx context.Context, s *Session, feeds map[tf.Output]*core.Tensor, outs ...tf.Output) ([]*core.Tensor, error) {
	sig, args := pass.Signature{}, []*core.Tensor(nil)
	for x, v := range feeds {
		sig.Feeds, args = append(sig.Feeds, x.Name()), append(args, v)
	}
	for _, y := range outs {
		sig.Fetches = append(sig.Fetches, y.Name())
	}
	return s.Run(ctx, sig, args)
}
