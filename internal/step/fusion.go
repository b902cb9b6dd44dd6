package step

import (
	"fmt"

	"github.com/gorge-tf/gorge/internal/fuse"
	"github.com/gorge-tf/gorge/internal/graph"
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

// fused joins elementwise nodes of p, the part of one device, and returns the function
// that finds the kernels of what it has become. Kernels are made once all the same.
func fused(p *graph.Graph, find func(*core.Node) (core.Kernel, error), log func(string)) (func(*core.Node) (core.Kernel, error), error) {
	made := map[*core.Node]core.Kernel{}
	report, err := fuse.Fuse(p, fuse.Options{Explain: log != nil, Kernel: func(n *graph.Node) core.Kernel {
		k := made[&n.Node]
		if k == nil {
			k, _ = find(&n.Node) // making the executor gives the error
			made[&n.Node] = k
		}
		return k
	}})
	if err != nil {
		return nil, err
	}
	if log != nil {
		log(report.String())
	}
	return func(n *core.Node) (core.Kernel, error) {
		if k := report.Kernels[n]; k != nil {
			return k, nil
		}
		if k := made[n]; k != nil {
			return k, nil
		}
		return find(n)
	}, nil
}
