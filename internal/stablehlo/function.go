package stablehlo

import "maps"

// function is the name of operations that are functions, of which a module consists.
const function = "func"

// module reads the section of operations: a module of functions.
func (r *reader) module(c *cursor) *Module {
	m := &Module{}
	if ops, args := c.flagged(); ops != 1 || args {
		c.corrupt("an artifact must have one module, got %d operations", ops)
	}
	n := at(c, "name of an operation", r.names, c.uint())
	if n.dialect != "builtin" || n.name != "module" {
		c.unsupported("an artifact must have a module, got %q", n.dialect+"."+n.name)
	}
	mask := c.byte()
	at(c, "location", r.attrs, c.uint())
	m.Attrs = r.moduleAttrs(c, n, mask)
	if mask&^(hasAttrs|hasProperties) != hasRegions {
		c.corrupt("a module must have a region, and neither results nor operands, its mask is %08b", mask)
	}
	if name, ok := m.Attrs["sym_name"].(String); ok {
		m.Name = string(name)
		delete(m.Attrs, "sym_name")
	}
	r.functions(c, m)
	return m
}

// moduleAttrs reads the attributes of a module. Its own encoding of them has its
// name and visibility, if it has some.
func (r *reader) moduleAttrs(c *cursor, n *opName, mask byte) map[string]Attr {
	set := map[string]Attr{}
	if mask&hasAttrs != 0 {
		r.merge(c, set, c.attr())
	}
	if mask&hasProperties == 0 {
		return set
	}
	i := c.uint()
	if !n.native {
		r.merge(c, set, c.attrAt(i))
		return set
	}
	if p := *at(c, "set of properties", r.props, i); !c.failed() {
		for _, name := range []string{"sym_name", "sym_visibility"} {
			if a := p.optionalAttr(); a != nil {
				set[name] = a
			}
		}
		p.end()
	}
	return set
}

// functions reads the region of a module.
func (r *reader) functions(c *cursor, m *Module) {
	n, isolated := c.flagged()
	if n != 1 || !isolated {
		c.corrupt("a module must have one region that is isolated, got %d regions", n)
	}
	if r.version >= isolatedSections {
		outer := c
		c = c.nested()
		outer.end()
	}
	blocks, values := c.uint(), c.uint()
	ops, args := c.flagged()
	if blocks != 1 || values != 0 || args {
		c.corrupt("a module must have one block without values, got %d blocks and %d values", blocks, values)
	}
	names := map[string]bool{}
	for i := c.fits("functions", ops); i > 0 && !c.failed(); i-- {
		f := r.function(c)
		if c.failed() {
			return
		}
		if names[f.Name] {
			c.corrupt("the names of functions must differ, got %q twice", f.Name)
		}
		names[f.Name] = true
		m.Funcs = append(m.Funcs, f)
	}
	c.end()
}

// function reads a function and checks that its body fits its type.
func (r *reader) function(c *cursor) *Func {
	s := &scope{}
	s.push(0)
	op := r.op(c, s)
	if c.failed() {
		return nil
	}
	if op.Name != function {
		c.corrupt("a module must have nothing but functions, got %q", op.Name)
		return nil
	}
	f := &Func{Attrs: maps.Clone(op.Attrs), Body: op.Regions[0]}
	name, named := op.Attrs["sym_name"].(String)
	visibility, visible := op.Attrs["sym_visibility"].(String)
	typ, typed := op.Attrs["function_type"].(TypeAttr)
	if !named || !visible || !typed || typ.Type.Kind != Function {
		c.corrupt("a function's name and visibility must be strings, and its type one of functions, got %T, %T and %v",
			op.Attrs["sym_name"], op.Attrs["sym_visibility"], typ.Type)
		return nil
	}
	f.Name, f.Public = string(name), visibility != "private"
	f.Args, f.Results = typ.Type.Args, typ.Type.Results
	for _, own := range []string{"sym_name", "sym_visibility", "function_type"} {
		delete(f.Attrs, own)
	}
	if f.Body != nil {
		c.fit(f, "arguments", f.Args, f.Body.Args)
		c.fit(f, "results", f.Results, f.Body.Terminator().Operands)
	}
	return f
}

// fit demands that values have the types that a function says.
func (c *cursor) fit(f *Func, what string, types []Type, values []*Value) {
	if len(types) != len(values) {
		c.corrupt("the body of function %q must have its %d %s, got %d", f.Name, len(types), what, len(values))
		return
	}
	for i, t := range types {
		if t.composed() {
			c.spend(t.parts(c.r.budget))
		}
		if !c.failed() && !t.Equal(values[i].Type) {
			c.corrupt("the body of function %q must have %s of its types, got %v for %v", f.Name, what, values[i].Type, t)
		}
	}
}
