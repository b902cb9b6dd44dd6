package fuse

import (
	"encoding/binary"
	"sync"
	"sync/atomic"

	"github.com/gorge-tf/gorge/tf/core"
)

// maxPlans is how many shapes a cluster has plans for. Graphs that are fed ever new
// shapes have plans made again and again: a plan takes about as long as a small
// step, and holds no tensors.
const maxPlans = 64

// plans keeps the plans of a program, by the shapes of its inputs.
type plans struct {
	last atomic.Pointer[plan] // in a training loop it is the same every time
	mu   sync.Mutex
	all  map[string]*plan
}

// get returns the plan for shapes, made by make unless it is there.
func (p *plans) get(shapes []core.Shape, make func() (*plan, error)) (*plan, error) {
	key := keyOf(shapes)
	p.mu.Lock()
	pl := p.all[key]
	p.mu.Unlock()
	if pl == nil {
		var err error
		if pl, err = make(); err != nil {
			return nil, err
		}
		p.keep(key, pl)
	}
	p.last.Store(pl)
	return pl, nil
}

// keep keeps a plan, if need be in the place of all others.
func (p *plans) keep(key string, pl *plan) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.all == nil || len(p.all) >= maxPlans {
		p.all = map[string]*plan{}
	}
	p.all[key] = pl
}

func keyOf(shapes []core.Shape) string {
	var key []byte
	for _, s := range shapes {
		key = binary.AppendUvarint(key, uint64(len(s)))
		for _, d := range s {
			key = binary.AppendUvarint(key, uint64(d))
		}
	}
	return string(key)
}
