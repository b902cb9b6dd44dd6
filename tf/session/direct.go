package session

import (
	"context"

	"github.com/gorge-tf/gorge/internal/device"
	"github.com/gorge-tf/gorge/internal/direct"
	"github.com/gorge-tf/gorge/internal/graph"
	"github.com/gorge-tf/gorge/internal/pass"
	"github.com/gorge-tf/gorge/internal/recompute"
	"github.com/gorge-tf/gorge/internal/step"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
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
	return inProcess{direct.New(g, direct.Config{
		Devices: devices, Threads: cfg.Threads, InterOp: cfg.InterOp, Pools: cfg.InterOpPools, CostModelEvery: cfg.CostModelEvery,
		LogPlacement: placementLog(cfg), CollectivesInOrder: cfg.CollectivesInOrder, Limits: graph.Limits(cfg.Limits),
		FreezeVariables: cfg.FreezeVariables, FoldNorms: cfg.FoldNorms,
		Build: step.BuildOptions{Disabled: cfg.DisabledPasses, Soft: cfg.SoftPlacement, LogFusion: fusionLog(cfg), Recompute: recomputation(cfg)},
	})}, nil
}

// recomputation says what gradients have computed again.
func recomputation(cfg Config) recompute.Options {
	if cfg.SaveMemory {
		return recompute.SavesMemory(cfg.DisabledPasses)
	}
	return recompute.Options{}
}

// placementLog returns the log of placements, nil if there is none.
func placementLog(cfg Config) func(string) {
	if !cfg.LogDevicePlacement {
		return nil
	}
	log := cfg.Logger()
	return func(text string) { log.Info("device placement\n" + text) }
}

// fusionLog returns the log of what is fused, nil if there is none.
func fusionLog(cfg Config) func(string) {
	if !cfg.LogFusion {
		return nil
	}
	log := cfg.Logger()
	return func(text string) { log.Info("fusion of operations\n" + text) }
}

func signature(c *Call) pass.Signature {
	return pass.Signature{Feeds: c.FeedNames, Fetches: c.Fetches, Targets: c.Targets, AnyShapes: c.AnyShapes}
}

func (b inProcess) Run(ctx context.Context, c *Call) (out []*core.Tensor, err error) {
	if c.Options == nil {
		return b.s.RunInto(ctx, signature(c), c.Feeds, c.Into)
	}
	out, c.Metadata, err = b.s.RunOptions(ctx, signature(c), c.Feeds, c.Options)
	return out, err
}

// prepareStep makes a step that is run again and again.
func (b inProcess) prepareStep(c *Call) preparedStep { return b.s.Prepare(signature(c)) }

func (b inProcess) PartialRun(ctx context.Context, c *Call) (Pieces, error) {
	p, err := b.s.PartialRun(ctx, signature(c))
	if err != nil {
		return nil, err
	}
	return pieces{p}, nil
}

func (b inProcess) Close() error { return b.s.Close() }

type pieces struct{ *direct.PartialRun }

func (p pieces) Run(ctx context.Context, c *Call) ([]*core.Tensor, error) {
	return p.PartialRun.Run(ctx, c.FeedNames, c.Feeds, c.Fetches)
}
