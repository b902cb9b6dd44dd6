package step

import (
	"fmt"

	"github.com/gorge-tf/gorge/internal/fuse"
	"github.com/gorge-tf/gorge/internal/graph"
	"github.com/gorge-tf/gorge/internal/pass"
	"github.com/gorge-tf/gorge/internal/recompute"
	"github.com/gorge-tf/gorge/internal/rowblocks"
	"github.com/gorge-tf/gorge/tf/core"
)

// notFused says why no node of p, the part of device d, is joined to others.
func notFused(p *graph.Graph, d core.Device) string {
	why := "the pass fusion is disabled"
	if t := d.Spec().Type; t != "CPU" {
		why = "only nodes of CPUs are joined, not those of " + t
	}
	return fmt.Sprintf("%s: none of %d nodes are joined: %s\n", d.Spec(), len(p.Nodes), why)
}

// A finder returns the kernel of a node.
type finder = func(*core.Node) (core.Kernel, error)

// remembered makes each kernel once, whoever asks for it. Nodes must not change any more
// when it is asked for theirs: each pass has one of its own.
func remembered(find finder) finder {
	made := map[*core.Node]core.Kernel{}
	return func(n *core.Node) (core.Kernel, error) {
		if k := made[n]; k != nil {
			return k, nil
		}
		k, err := find(n)
		if err == nil { // some come with one, and whoever asks next is to see it, too
			made[n] = k
		}
		return k, err
	}
}

// recomputed makes gradients in p read copies of values that are not kept.
func recomputed(p *graph.Graph, find finder, o recompute.Options) error {
	find = remembered(find)
	return recompute.Rewrite(p, o, func(n *graph.Node) bool {
		if n.Role() == core.Constant {
			return false
		}
		k, err := find(&n.Node) // making the executor gives the error
		_, ok := core.AsCompute(k)
		return err != nil || !ok
	})
}

// inBlocks has parts of p that compute row by row run for some rows at a time, and returns
// the function that finds the kernels of what it has become.
func inBlocks(p *graph.Graph, d core.Device, find finder, o BuildOptions) (finder, error) {
	if o.Recompute.Mode != recompute.Blocks || d.Spec().Type != "CPU" || !pass.Enabled(pass.RowBlocks, o.Disabled) {
		return find, nil
	}
	known := remembered(find)
	found, err := rowblocks.Rewrite(p, func(n *graph.Node) core.Kernel {
		k, _ := known(&n.Node) // making the executor gives the error
		return k
	})
	if err != nil {
		return nil, err
	}
	if s := found.String(); s != "" && o.LogFusion != nil {
		o.LogFusion(s)
	}
	return orElse(found.Kernels, find), nil
}

// orElse returns the function that finds the kernels that were made here, and others by find.
func orElse(made map[*core.Node]core.Kernel, find finder) finder {
	return func(n *core.Node) (core.Kernel, error) {
		if k := made[n]; k != nil {
			return k, nil
		}
		return find(n)
	}
}

// fused joins elementwise nodes of p, the part of one device, and returns the function
// that finds the kernels of what it has become.
func fused(p *graph.Graph, find finder, o BuildOptions) (finder, error) {
	find = remembered(find)
	report, err := fuse.Fuse(p, fuse.Options{Explain: o.LogFusion != nil, SaveMemory: o.Recompute.Mode >= recompute.Heuristics, Kernel: func(n *graph.Node) core.Kernel {
		k, _ := find(&n.Node) // making the executor gives the error
		return k
	}})
	if err != nil {
		return nil, err
	}
	if o.LogFusion != nil {
		o.LogFusion(report.String())
	}
	return orElse(report.Kernels, find), nil
}
