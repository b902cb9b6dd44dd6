package master

import (
	"context"
	"maps"
	"slices"
	"strconv"

	"github.com/gorge-tf/gorge/tf/core"
)

// Sequences numbers the steps of graphs of which several masters run a part each:
// what devices do together must happen in one step.
type Sequences interface {
	// NextStep returns the number of a graph's next step, when the one before is
	// over. It ends with RetireStep.
	NextStep(ctx context.Context, graph int64) (int64, error)
	RetireStep(graph, step int64, succeeded bool)
}

// noInstances is the key of graphs with collectives none of which names its
// instance.
const noInstances = 0x8774aa605c729c72

// collectiveKey returns what tells a graph from others that do things together
// with other masters: the same for all that do the same. 0: it does no such thing.
func collectiveKey(parts []part, library *core.Library) int64 {
	k := keyed{library: library, instances: map[int64]bool{}, seen: map[string]bool{}}
	for _, p := range parts {
		for _, n := range p.graph.Nodes {
			k.note(n.OpName(), int64(n.Int("instance_key")))
			for _, a := range n.Attrs {
				k.calls(a)
			}
		}
	}
	return k.key()
}

// keyed collects what makes the key of a graph.
type keyed struct {
	library   *core.Library
	instances map[int64]bool
	others    bool
	seen      map[string]bool // functions
}

// note takes up a node. TensorFlow's masters count those that are given their
// instance as an input, and no others.
func (k *keyed) note(op string, instance int64) {
	d := core.Lookup(op)
	switch {
	case !d.Has(core.GroupInstance):
	case d.Attr("instance_key") != nil:
		k.instances[instance] = true
	default:
		k.others = true
	}
}

// calls looks into the functions that an attribute names.
func (k *keyed) calls(attr any) {
	switch a := attr.(type) {
	case core.Func:
		k.function(a.Name)
	case []core.Func:
		for _, f := range a {
			k.function(f.Name)
		}
	}
}

func (k *keyed) function(name string) {
	if k.library == nil || k.seen[name] {
		return
	}
	k.seen[name] = true
	for _, n := range k.library.Find(name).GetNodeDef() {
		k.note(n.GetOp(), n.GetAttr()["instance_key"].GetI())
		for _, a := range n.GetAttr() {
			k.function(a.GetFunc().GetName())
			for _, f := range a.GetList().GetFunc() {
				k.function(f.GetName())
			}
		}
	}
}

func (k *keyed) key() int64 {
	if len(k.instances) == 0 && !k.others {
		return 0
	}
	key := uint64(noInstances)
	for _, i := range slices.Sorted(maps.Keys(k.instances)) {
		a := uint64(i)
		key = a ^ (key + 0x9e3779b97f4a7800 + a<<10 + a>>4)
	}
	return int64(key)
}

// keySuffix tells graphs of equal signatures apart that are run under different
// keys.
func keySuffix(asked int64) string {
	if asked == 0 {
		return ""
	}
	return "\nGK: " + strconv.FormatInt(asked, 10)
}

// sequences returns what numbers the step; nil: no other master counts it. The
// devices of a cluster that a session brings along are that session's own.
func (r *stepRun) sequences() Sequences {
	if r.graphKey == 0 || r.s.cluster.def != nil {
		return nil
	}
	return r.s.m.env.Sequences
}

// begin gives a step its number, which end gives back.
func (r *stepRun) begin(ctx context.Context) (err error) {
	if q := r.sequences(); q != nil {
		r.id, err = q.NextStep(ctx, r.graphKey)
		return err
	}
	r.id = newStep()
	return nil
}

// end cleans a step up. One whose number may come again is cleaned up before that
// can be.
func (r *stepRun) end(err error) {
	if q := r.sequences(); q != nil {
		if err != nil {
			r.s.cleanupNow(r.id, r.parts)
			q.RetireStep(r.graphKey, r.id, false)
			return
		}
		q.RetireStep(r.graphKey, r.id, true)
	}
	r.s.cleanup(r.id, r.parts)
}
