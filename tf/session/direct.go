package session

import (
	"context"

	"github.com/gorge-tf/gorge/internal/device"
	"github.com/gorge-tf/gorge/internal/direct"
	"github.com/gorge-tf/gorge/internal/pass"
	"github.com/gorge-tf/gorge/tf"
)

// inProcess is the backend of sessions without a target.
type inProcess struct{ s *direct.Session }

func newDirect(g *tf.Graph, cfg Config) (Backend, error) {
	if err := pass.CheckPassNames(cfg.DisabledPasses); err != nil {
		return nil, err
	}
	devices, err := device.Make("localhost", 0, cfg.Devices)
	if err != nil {
		return nil, err
	}
	return inProcess{direct.New(g, direct.Config{Devices: devices, Soft: cfg.SoftPlacement, Threads: cfg.Threads, DisabledPasses: cfg.DisabledPasses})}, nil
}

func (b inProcess) Run(ctx context.Context, c *Call) ([]*tf.Tensor, error) {
	return b.s.Run(ctx, pass.Signature{Feeds: c.FeedNames, Fetches: c.Fetches, Targets: c.Targets}, c.Feeds)
}

func (b inProcess) Close() error { return b.s.Close() }
