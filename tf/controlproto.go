package tf

import (
	"maps"
	"slices"
	"strings"

	"github.com/gorge-tf/gorge/tf/pb"
)

// Contexts travel in MetaGraphs, so that gradients can be added to graphs that
// were imported. Names in them are relative to a scope that is exported, and
// put below one when they are imported.

// Proto returns c, and all contexts in it, as a ControlFlowContextDef. Names
// lose the prefix scope, if it is not empty. It returns nil if c is not in that
// scope.
func (c *ControlFlowContext) Proto(scope string) *pb.ControlFlowContextDef {
	if !strings.HasPrefix(c.name, scope) {
		return nil
	}
	if c.cond != nil {
		return &pb.ControlFlowContextDef{Ctxt: &pb.ControlFlowContextDef_CondCtxt{CondCtxt: c.condProto(scope)}}
	}
	return &pb.ControlFlowContextDef{Ctxt: &pb.ControlFlowContextDef_WhileCtxt{WhileCtxt: c.whileProto(scope)}}
}

func (c *ControlFlowContext) condProto(scope string) *pb.CondContextDef {
	return &pb.CondContextDef{
		ContextName: strip(c.name, scope), PredName: strip(c.cond.pred.Name(), scope), PivotName: strip(c.cond.pivot.Name(), scope),
		Branch: int32(c.cond.branch), ValuesDef: c.valuesProto(scope), NestedContexts: c.nestedProto(),
	}
}

func (c *ControlFlowContext) whileProto(scope string) *pb.WhileContextDef {
	l := c.loop
	p := &pb.WhileContextDef{
		ContextName: strip(c.name, scope), ParallelIterations: int32(l.parallel), BackProp: l.backProp, SwapMemory: l.swap,
		PivotName: strip(l.pivot.Name(), scope), PivotForPredName: strip(l.pivotForPred.Name(), scope), PivotForBodyName: strip(l.pivotForBody.Name(), scope),
		LoopExitNames: stripAll(l.exits, scope), LoopEnterNames: stripAll(l.enters, scope),
		ValuesDef: c.valuesProto(scope), NestedContexts: c.nestedProto(),
	}
	if l.maximum.op != nil {
		p.MaximumIterationsName = strip(l.maximum.Name(), scope)
	}
	return p
}

func (c *ControlFlowContext) valuesProto(scope string) *pb.ValuesDef {
	v := &pb.ValuesDef{Values: stripAll(slices.Collect(maps.Keys(c.values)), scope), ExternalValues: map[string]string{}}
	slices.Sort(v.Values)
	for outside, inside := range c.external {
		v.ExternalValues[strip(outside.Name(), scope)] = strip(inside.Name(), scope)
	}
	return v
}

// nestedProto writes the contexts in c, whose names are not shortened.
func (c *ControlFlowContext) nestedProto() (out []*pb.ControlFlowContextDef) {
	for _, n := range c.nested {
		out = append(out, n.Proto(""))
	}
	return out
}

func strip(name, scope string) string {
	if rest, ok := strings.CutPrefix(name, scope+"/"); ok && scope != "" {
		return rest
	}
	return name
}

func stripAll(xs []Output, scope string) []string {
	out := make([]string, len(xs))
	for i, x := range xs {
		out[i] = strip(x.Name(), scope)
	}
	return out
}

// ImportControlFlowContext makes the context that def describes, and those in
// it, contexts of operations that g has, whose names begin with scope if it is
// not empty. The context joins the collection for its kind.
func (g *Graph) ImportControlFlowContext(def *pb.ControlFlowContextDef, scope string) (*ControlFlowContext, error) {
	c, err := g.importContext(def, scope)
	if err != nil {
		return nil, err
	}
	collection := CondContexts
	if c.loop != nil {
		collection = WhileContexts
	}
	g.AddToCollection(collection, c)
	return c, nil
}

// importContext is ImportControlFlowContext without the collection.
func (g *Graph) importContext(def *pb.ControlFlowContextDef, scope string) (*ControlFlowContext, error) {
	im := contextImporter{finder{g: g, scope: scope}}
	var c *ControlFlowContext
	g.held(func() { g.within(nil, func() { c = im.context(def) }) })
	return c, im.err
}

// contextImporter reads contexts; it keeps the first error.
type contextImporter struct{ finder }

func (im *contextImporter) context(def *pb.ControlFlowContextDef) *ControlFlowContext {
	c := &ControlFlowContext{g: im.g, outer: im.g.scope.flow, values: map[Output]bool{}, external: map[Output]Output{}}
	switch p := def.GetCtxt().(type) {
	case *pb.ControlFlowContextDef_CondCtxt:
		im.cond(c, p.CondCtxt)
	case *pb.ControlFlowContextDef_WhileCtxt:
		im.while(c, p.WhileCtxt)
	default:
		im.err = Errorf(InvalidArgument, "Unknown ControlFlowContextDef field: a context must be of a conditional or of a loop")
	}
	if c.outer != nil {
		c.outer.nested = append(c.outer.nested, c)
	}
	return c
}

func (im *contextImporter) cond(c *ControlFlowContext, p *pb.CondContextDef) {
	if b := p.GetBranch(); b != 0 && b != 1 {
		im.err = Errorf(InvalidArgument, "the branch of a conditional's context must be 0 or 1, got %d", b)
		return
	}
	c.name = im.name(p.GetContextName())
	c.cond = &condBranch{pred: im.output(p.GetPredName()), pivot: im.output(p.GetPivotName()), branch: int(p.GetBranch())}
	im.values(c, p.GetValuesDef(), p.GetNestedContexts())
}

func (im *contextImporter) while(c *ControlFlowContext, p *pb.WhileContextDef) {
	if n := p.GetParallelIterations(); n <= 0 {
		im.err = Errorf(InvalidArgument, "'parallel_iterations' must be a positive integer: %d", n)
		return
	}
	c.name = im.name(p.GetContextName())
	c.loop = &whileLoop{
		parallel: int(p.GetParallelIterations()), backProp: p.GetBackProp(), swap: p.GetSwapMemory(),
		pivot: im.output(p.GetPivotName()), pivotForPred: im.output(p.GetPivotForPredName()), pivotForBody: im.output(p.GetPivotForBodyName()),
		exits: im.outputs(p.GetLoopExitNames()), enters: im.outputs(p.GetLoopEnterNames()),
	}
	if m := p.GetMaximumIterationsName(); m != "" {
		c.loop.maximum = im.output(m)
	}
	im.values(c, p.GetValuesDef(), p.GetNestedContexts())
	if im.scope != "" && im.err == nil {
		c.renameFrame()
	}
}

// values reads what a context has seen, then the contexts in it.
func (im *contextImporter) values(c *ControlFlowContext, p *pb.ValuesDef, nested []*pb.ControlFlowContextDef) {
	for _, x := range im.outputs(p.GetValues()) {
		c.values[x] = true
	}
	for _, outside := range sortedKeys(p.GetExternalValues()) {
		c.external[im.output(outside)] = im.output(p.GetExternalValues()[outside])
	}
	if im.err != nil {
		return
	}
	for x := range c.values {
		if _, isOutside := c.external[x]; !isOutside {
			x.op.flow = c
		}
	}
	im.g.within(c, func() {
		for _, n := range nested {
			if im.err == nil {
				im.context(n)
			}
		}
	})
}

// renameFrame makes the name of c the one that its Enters give to the frame.
func (c *ControlFlowContext) renameFrame() {
	for x := range c.values {
		if x.op.isEnter() && x.op.flow == c {
			attrs := maps.Clone(x.op.Attrs)
			attrs["frame_name"] = c.name
			x.op.Attrs = attrs
		}
	}
}
