package tf

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"math"
	"slices"

	"github.com/gorge-tf/gorge/tf/core"
)

// An evalFunc computes one node at once. It gives as many tensors as n has outputs,
// in dst if that has room for them.
type evalFunc = func(n *core.Node, in []Output, dst []*core.Tensor) ([]*core.Tensor, error)

// IsEager reports whether operations are computed as they are added.
func (g *Graph) IsEager() bool { return g.eager.cache != nil }

// eagerState is the part of a graph that computes as operations are added.
//
// Guard: none. It belongs to the goroutine that builds the graph: there is one at a
// time, so that an operation finds the cache as the one before it left it.
//
// taped grows while tapes > 0 and is dropped when the last recording ends: tapes keep
// their part of it. StopRecording sets tapes to 0 for the time of a call.
type eagerState struct {
	cache *eagerCache             // nil unless the graph computes at once
	tapes int                     // recordings in progress
	taped []*Operation            // what they have seen
	made  func(v *Variable) error // called with each new variable that is not local; nil: nobody asks
}

// eagerCache holds what operations of an eager graph have in common that have
// the same op, input types and attributes: kernels, which may have state (the
// position in a random stream), and completed attributes.
type eagerCache struct {
	// prepareNode returns what computes nodes that are like n but for their name.
	prepareNode func(n *core.Node) (evalFunc, error)
	again       func() // called when random sequences begin again, nil: nothing else keeps them
	known       map[string]*prepared
	older       map[string]*prepared // those of known when it was last full
	owned       int                  // how many nodes with a resource of their own there have been
	key         []byte               // space to build keys in
	spec        Spec                 // of the operation that is being added, if it has no options
}

// prepared is an operation but for its inputs.
type prepared struct {
	node core.Node
	run  evalFunc
	own  bool // it gives out a resource of its own: nothing else is like it
}

// mostPrepared bounds known: each random operation has a seed of its own, so that
// there is no end of different ones. What is used again and again stays, with its
// position in a random stream: it moves from older to known.
const mostPrepared = 4096

// buildNow computes o at once, in an eager graph.
func (o *Operation) buildNow(op string, spec *Spec) (err error) {
	for _, before := range [][]*Operation{o.g.dependenciesOf(o.in), spec.Control} {
		for _, c := range before {
			switch {
			case c == nil:
				return errNoDependency
			case c.err != nil:
				return c.err
			}
		}
	}
	p, err := o.g.eager.cache.prepare(o, op, spec)
	if err != nil {
		return err
	}
	o.Node = p.node
	if o.vals, err = p.run(&p.node, o.in, o.val1[:0]); err != nil {
		return o.g.locate(err)
	}
	o.record()
	return nil
}

// prepare returns what is known of operations like o, from the cache or new.
func (e *eagerCache) prepare(o *Operation, op string, spec *Spec) (*prepared, error) {
	key, ok := appendKey(e.key[:0], op, o.in, spec.Attrs)
	e.key = key
	if ok {
		if p := e.known[string(key)]; p != nil {
			return p, nil
		}
		if p := e.older[string(key)]; p != nil {
			e.keep(string(key), p)
			return p, nil
		}
	}
	p, err := e.make(o, op, spec)
	if err == nil && ok && !p.own && !p.node.Def.Has(core.SaysItsName) {
		e.keep(string(e.key), p)
	}
	return p, err
}

func (e *eagerCache) make(o *Operation, op string, spec *Spec) (*prepared, error) {
	if _, err := ParseDevice(spec.Device); err != nil {
		return nil, err
	}
	if err := o.define(op, spec); err != nil {
		return nil, err
	}
	p := &prepared{node: o.Node, own: makesOwn(&o.Node)}
	switch p.node.Name = op; {
	case o.Def.Has(core.SaysItsName):
		p.node.Name = spec.Name
	case p.own:
		e.owned++
		p.node.Name = fmt.Sprintf("%s_%d", op, e.owned)
	}
	run, err := e.prepareNode(&p.node)
	p.run = run
	return p, err
}

// makesOwn reports whether n gives the handle of a resource that has no name: another node like it
// has another resource, as each node of a graph does.
func makesOwn(n *core.Node) bool {
	if name, shares := n.Attrs["shared_name"]; !shares || name != "" || len(n.OutTypes) == 0 {
		return false
	}
	return n.OutTypes[0] == Resource
}

func (e *eagerCache) keep(key string, p *prepared) {
	if e.known == nil || len(e.known) >= mostPrepared {
		e.known, e.older = map[string]*prepared{}, e.known
	}
	e.known[key] = p
}

func (e *eagerCache) forget() { e.known, e.older = nil, nil }

// appendKey appends to b what tells operations apart; it reports false for
// those, such as constants, that are not worth keeping.
func appendKey(b []byte, op string, in []Output, attrs core.Attrs) ([]byte, bool) {
	b = appendText(b, op)
	b = binary.AppendUvarint(b, uint64(len(in)))
	for _, x := range in {
		b = append(b, byte(x.op.OutTypes[x.k]))
	}
	var short [8]string
	names := short[:0]
	for name := range attrs {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		var ok bool
		if b, ok = appendValue(appendText(b, name), attrs[name]); !ok {
			return b, false
		}
	}
	return b, true
}

func appendText(b []byte, s string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(s))), s...)
}

// appendValue appends an attribute's value. What attributes of one op there
// are tells their types but for the length of lists, which is appended.
func appendValue(b []byte, v any) ([]byte, bool) {
	switch v := v.(type) {
	case bool:
		if v {
			return append(b, 'b', 1), true
		}
		return append(b, 'b', 0), true
	case int64:
		return binary.AppendVarint(append(b, 'i'), v), true
	case float32:
		return binary.LittleEndian.AppendUint32(append(b, 'f'), math.Float32bits(v)), true
	case string:
		return appendText(append(b, 's'), v), true
	case DType:
		return append(b, 't', byte(v)), true
	case Shape:
		return appendInts(append(b, 'd'), v, v == nil), true
	case []int64:
		return appendInts(append(b, 'l'), v, v == nil), true
	case core.Func:
		return appendText(append(b, 'F'), v.Name), len(v.Attrs) == 0
	case []DType:
		b = binary.AppendUvarint(append(b, 'T'), uint64(len(v)))
		for _, t := range v {
			b = append(b, byte(t))
		}
		return b, true
	}
	return b, false
}

// appendInts tells nil, an unknown shape, from an empty list.
func appendInts[T int | int64](b []byte, v []T, isNil bool) []byte {
	n := len(v)
	if isNil {
		n = -1
	}
	b = binary.AppendVarint(b, int64(n))
	for _, x := range v {
		b = binary.AppendVarint(b, int64(x))
	}
	return b
}

// locate adds the program's line to an error that names a node in the body of a function
// of g.
func (g *Graph) locate(err error) error {
	e := AsError(err)
	if e.Node == "" || e.Pos != "" {
		return err
	}
	op := g.inFunctions(cmp.Or(e.Origin, core.Origin{Node: e.Node}))
	if op == nil {
		return err
	}
	located := *e
	located.Pos, located.Op = op.Pos(), op.OpName()
	return &located
}
