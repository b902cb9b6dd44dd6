package stablehlo

import (
	"maps"
	"slices"
)

// The parts of an operation that its mask says it has.
const (
	hasAttrs = 1 << iota
	hasResults
	hasOperands
	hasSuccessors
	hasRegions
	hasUseLists
	hasProperties
	hasUnknown
)

// op reads an operation of a block: all but its regions follow one another in c.
func (r *reader) op(c *cursor, s *scope) *Op {
	n := at(c, "name of an operation", r.names, c.uint())
	sig, known := signatures[n.name]
	if n.dialect != "vhlo" || !known {
		c.unsupported("an operation must be one of VHLO's, got %q", n.dialect+"."+n.name)
	}
	mask := c.byte()
	at(c, "location", r.attrs, c.uint())
	if c.failed() {
		return nil
	}
	op := &Op{Name: unversioned(n.name)}
	op.Attrs = r.attributes(c, n, sig, mask)
	if mask&hasResults != 0 {
		op.Results = c.results(op)
	}
	if mask&hasOperands != 0 {
		op.Operands = s.operands(c)
	}
	if mask&(hasSuccessors|hasUnknown) != 0 {
		c.corrupt("operation %q must not branch, its mask is %08b", op.Name, mask)
	}
	if mask&hasUseLists != 0 && r.version >= useListOrders {
		c.skipUseLists(len(op.Results))
	}
	if mask&hasRegions != 0 {
		op.Regions = r.regions(c, s)
	}
	c.check(op, sig)
	return op
}

// check demands that an operation has as many of all parts as it should.
func (c *cursor) check(op *Op, sig signature) {
	for _, p := range []struct {
		what string
		got  int
		want arity
	}{
		{"operands", len(op.Operands), sig.operands},
		{"results", len(op.Results), sig.results},
		{"regions", len(op.Regions), sig.regions},
	} {
		if !p.want.allows(p.got) {
			c.corrupt("operation %q must have %v %s, got %d", op.Name, p.want, p.what, p.got)
		}
	}
	if op.Name != function && slices.Contains(op.Regions, nil) {
		c.corrupt("a region of operation %q must have a block, got none", op.Name)
	}
}

func (c *cursor) results(op *Op) []*Value {
	out := make([]*Value, c.count("results"))
	for i := 0; i < len(out) && !c.failed(); i++ {
		out[i] = &Value{Type: c.typ(), Def: op, Index: i}
	}
	return out
}

// attributes reads an operation's attributes, which come from a dictionary, from
// properties, or from both. Operations that have the same share them.
func (r *reader) attributes(c *cursor, n *opName, sig signature, mask byte) map[string]Attr {
	key := setKey{name: n.name}
	if mask&hasAttrs != 0 {
		key.dict = c.uint() + 1
	}
	if mask&hasProperties != 0 {
		key.prop = c.uint() + 1
	}
	if set, ok := r.sets[key]; ok || c.failed() {
		return set
	}
	set := map[string]Attr{}
	if key.dict > 0 {
		r.merge(c, set, c.attrAt(key.dict-1))
	}
	if key.prop > 0 && n.native {
		r.merge(c, set, r.properties(c, key.prop-1, sig))
	} else if key.prop > 0 {
		r.merge(c, set, c.attrAt(key.prop-1))
	}
	for _, name := range sig.attrs {
		if set[name] == nil {
			c.corrupt("operation %q must have the attribute %q, got none", n.name, name)
		}
	}
	c.upgrade(unversioned(n.name), set)
	r.sets[key] = set
	return set
}

// properties reads the attributes of an operation in its own encoding: one after
// the other.
func (r *reader) properties(c *cursor, i uint64, sig signature) Attr {
	p := *at(c, "set of properties", r.props, i)
	if c.failed() {
		return nil
	}
	p.at = 0
	d := make(Dict, len(sig.attrs))
	for _, name := range sig.attrs {
		d[name] = p.attr()
	}
	p.end()
	return d
}

// merge adds the attributes of a dictionary to a set.
func (r *reader) merge(c *cursor, set map[string]Attr, from Attr) {
	d, ok := from.(Dict)
	if !ok {
		c.corrupt("the attributes of an operation must be a dictionary, got %T", from)
	}
	c.spend(len(d))
	if c.failed() {
		return
	}
	maps.Copy(set, d)
}

// spend counts what is done for an operation with attributes and types, as a few
// entries of tables may be part of very many operations.
func (c *cursor) spend(n int) {
	if c.r.budget -= n; c.r.budget < 0 {
		c.corrupt("operations must not have more attributes and types than an artifact of this size has a use for")
	}
}

// skipUseLists steps over the order of the uses of some values.
func (c *cursor) skipUseLists(values int) {
	lists := 1
	if values > 1 {
		lists = c.count("lists of uses")
	}
	for ; lists > 0 && !c.failed(); lists-- {
		if values > 1 {
			c.uint() // which value
		}
		n, _ := c.flagged()
		for n := c.fits("uses of a value", n); n > 0; n-- {
			c.uint()
		}
	}
}
