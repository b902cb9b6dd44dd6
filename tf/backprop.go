package tf

import (
	"slices"

	"github.com/gorge-tf/gorge/tf/core"
)

// backprop walks a graph backwards, as TensorFlow does: breadth first, through
// each operation once the gradients of all that depends on it have arrived.
type backprop struct {
	g       *Graph
	o       *GradientOptions
	sums    map[Output]*gradientSum
	pending map[*Operation]int  // consumers whose gradients are still to come
	between map[*Operation]bool // on a path from xs to ys
	order   []*Operation        // those, in the order of finding
	stop    map[*Operation]bool // that gradients do not go through
	loops   *loopStates         // nil if there are no loops on the way
	queue   []*Operation
	history []*Operation // through which gradients can flow
}

// gradientSum is what has arrived for one output.
type gradientSum struct {
	parts []Gradient
	added bool // parts is the total, and has been used
}

func (b *backprop) run() ([]Gradient, error) {
	b.findBetween()
	if err := b.findLoops(); err != nil {
		return nil, err
	}
	b.count()
	if err := b.start(); err != nil {
		return nil, err
	}
	b.roots()
	for len(b.queue) > 0 {
		op := b.queue[0]
		b.queue = b.queue[1:]
		if err := b.visit(op); err != nil {
			return nil, err
		}
		b.release(op)
	}
	if b.loops != nil {
		for _, l := range b.loops.order {
			l.finish()
		}
	}
	return b.results()
}

// findBetween marks the operations on paths from xs to ys.
func (b *backprop) findBetween() {
	reached := b.reachedFrom(b.o.Xs)
	visit := func(op *Operation) {
		if reached[op] && !b.between[op] {
			b.between[op] = true
			b.order = append(b.order, op)
		}
	}
	for _, y := range b.o.Ys {
		visit(y.op)
	}
	for i := 0; i < len(b.order); i++ {
		for _, x := range b.order[i].in {
			visit(x.op)
		}
	}
}

// reachedFrom returns the operations that depend on xs.
func (b *backprop) reachedFrom(xs []Output) map[*Operation]bool {
	readers := map[*Operation][]*Operation{}
	for _, op := range b.history {
		for _, in := range op.in {
			if differentiable(in.DType()) {
				readers[in.op] = append(readers[in.op], op)
			}
		}
	}
	reached := map[*Operation]bool{}
	var found []*Operation
	visit := func(op *Operation) {
		if !reached[op] {
			reached[op] = true
			found = append(found, op)
		}
	}
	for _, x := range xs {
		visit(x.op)
	}
	for i := 0; i < len(found); i++ {
		for _, op := range readers[found[i]] {
			visit(op)
		}
	}
	return reached
}

func differentiable(d DType) bool {
	return d.IsFloat() || d.IsComplex() || d.Base() == Resource || d.Base() == Variant
}

// findLoops prepares the loops that are on the way. All results of a loop
// count, whether or not ys depend on them.
func (b *backprop) findLoops() error {
	for i := 0; i < len(b.order); i++ {
		op := b.order[i]
		if !op.isExit() {
			continue
		}
		if b.loops == nil {
			b.loops = &loopStates{g: b.g, base: b.g.scope.flow, byCtx: map[*ControlFlowContext]*gradLoop{}}
		}
		var exits []Output
		var err error
		b.colocated(op, func() { exits, err = b.loops.addLoop(op) })
		if err != nil {
			return err
		}
		for _, x := range exits {
			if !b.between[x.op] {
				b.between[x.op] = true
				b.order = append(b.order, x.op)
			}
		}
	}
	return nil
}

// colocated calls f; what it adds goes where op is, if that is wanted.
func (b *backprop) colocated(op *Operation, f func()) {
	if !b.o.Colocate {
		f()
		return
	}
	b.g.colocating(op, f)
}

// count counts the gradients that each operation waits for.
func (b *backprop) count() {
	for _, op := range b.order {
		for _, x := range op.in {
			if b.between[x.op] {
				b.pending[x.op]++
			}
		}
	}
	b.findStops()
}

// findStops marks the operations that gradients do not go through: those that
// the caller names and those of xs that no other x leads to.
func (b *backprop) findStops() {
	for _, x := range b.o.Stop {
		b.stop[x.op] = true
	}
	for _, x := range b.o.Xs {
		if !slices.ContainsFunc(x.op.in, func(in Output) bool { return b.pending[in.op] > 0 }) {
			b.stop[x.op] = true
		}
	}
}

// start seeds the gradients of the ys.
func (b *backprop) start() error {
	for i, y := range b.o.Ys {
		dy := Output{}
		if i < len(b.o.GradYs) {
			dy = b.o.GradYs[i]
		}
		var err error
		b.colocated(y.op, func() { dy, err = seed(y, dy, i) })
		if err != nil {
			return err
		}
		b.receive(y, Dense(dy))
	}
	return nil
}

// roots puts the operations of ys that wait for no other gradient in the queue.
func (b *backprop) roots() {
	isRoot := map[*Operation]bool{}
	for _, y := range b.o.Ys {
		if b.between[y.op] && b.pending[y.op] == 0 && !isRoot[y.op] {
			isRoot[y.op] = true
			b.queue = append(b.queue, y.op)
		}
	}
	if b.loops == nil {
		return
	}
	for _, l := range b.loops.order {
		for _, x := range l.unusedExits(b.pending, isRoot) {
			b.sendZeros(x)
		}
	}
}

// sendZeros makes the gradient of a loop's exit zero.
func (b *backprop) sendZeros(x Output) {
	if differentiable(x.DType()) {
		b.receive(x, Dense(b.loops.zerosForExit(x)))
		b.queue = append(b.queue, x.op)
	}
}

// visit carries the gradients of op's outputs to its inputs.
func (b *backprop) visit(op *Operation) (err error) {
	b.colocated(op, func() {
		var dy []Gradient
		var some bool
		b.loops.inGradient(op, true, func() { dy, some, err = b.arrived(op) })
		if err != nil || !some || b.stop[op] || op.grad == nil && op.Def.NoGrad == core.NotDifferentiable {
			return
		}
		b.loops.inGradient(op, false, func() { err = b.through(op, dy) })
	})
	return err
}

// arrived returns the gradients of op's outputs and whether there are any.
func (b *backprop) arrived(op *Operation) (dy []Gradient, some bool, err error) {
	dy = make([]Gradient, len(op.OutTypes))
	for k := range dy {
		dy[k] = b.total(Output{op, k})
		if err := dy[k].err(); err != nil {
			return nil, false, err
		}
		some = some || !dy[k].IsZero()
	}
	return dy, some, nil
}

// through calls the gradient function of op.
func (b *backprop) through(op *Operation, dy []Gradient) error {
	if err := b.checkPath(op); err != nil {
		return err
	}
	var dxs []Gradient
	b.fillZeros(op, dy)
	b.g.Scope(op.Name+"_grad", func() {
		if dxs = b.gradientOf(op, dy); b.o.Gate {
			dxs = gate(dxs)
		}
	})
	if err := b.g.Err(); err != nil {
		return err
	}
	if len(dxs) != len(op.in) {
		return blamed(op, Errorf(InvalidArgument, "Num gradients %d generated for op %v do not match num inputs %d", len(dxs), op, len(op.in)))
	}
	return b.arrive(op, dxs)
}

// fillZeros gives both sides of a conditional's Switch a gradient.
func (b *backprop) fillZeros(op *Operation, dy []Gradient) {
	if !op.isSwitch() || !differentiable(op.OutTypes[0]) {
		return
	}
	s := b.flow()
	for k := range dy {
		if dy[k].IsZero() {
			dy[k] = s.zerosForSwitch(op, k)
		}
	}
}

// flow returns the loops on the way, or that there are none.
func (b *backprop) flow() *loopStates {
	if b.loops != nil {
		return b.loops
	}
	return &loopStates{g: b.g, base: b.g.scope.flow}
}

// checkPath refuses operations that have no gradient.
func (b *backprop) checkPath(op *Operation) error {
	if op.flowGradient() != nil {
		if c := op.flow; op.isSwitch() && c != nil && c.loop != nil && c == b.g.scope.flow {
			return b.initialValueError(op)
		}
		return nil
	}
	if b.ownGradient(op) != nil {
		return nil
	}
	if b.lacksGradient(op) {
		return blamed(op, unregistered(op))
	}
	if op.Def.NoGrad == core.NoGradientDefined {
		return blamed(op, noGradient(op))
	}
	return nil
}

// noGradient says that no gradients go through op.
func noGradient(op *Operation) error {
	return Errorf(NotFound, "No gradient defined for operation '%s' (op type: %s). An op has one if its core.OpDef sets Grad. "+
		"Where its result may count as a constant, use StopGradient.", op.Name, op.OpName())
}

// initialValueError says that the gradient, asked for in a loop's body, is with
// respect to what the loop begins with.
func (b *backprop) initialValueError(op *Operation) error {
	target := ""
	for _, x := range b.o.Xs {
		if x.op.flow != op.flow {
			target = x.Name()
			break
		}
	}
	return Errorf(InvalidArgument, "Cannot compute gradient inside while loop with respect to op '%s'. We do not support taking the gradient wrt or through the initial value of a loop variable. Gradients can be computed through loop invariants or wrt the input parameters to the loop body.", target)
}

// receive keeps a gradient of x. The Switch of a loop is visited twice, and its
// second gradient replaces the first.
func (b *backprop) receive(x Output, dx Gradient) {
	s := b.sums[x]
	if s == nil {
		s = &gradientSum{}
		b.sums[x] = s
	}
	if s.added && x.op.isSwitch() {
		s.parts = nil
	}
	s.parts = append(s.parts, dx)
}

// release lets the operations go on that have waited for op alone.
func (b *backprop) release(op *Operation) {
	for _, x := range op.in {
		b.pending[x.op]--
		n := b.pending[x.op]
		switch {
		case n != 0 && !(b.loops != nil && n > 0 && x.op.isLoopSwitch()):
		case b.loops != nil && x.op.isExit():
			b.releaseExit(x)
		default:
			b.queue = append(b.queue, x.op)
		}
	}
}

// isLoopSwitch reports whether op is a Switch of a loop, not of a conditional.
func (op *Operation) isLoopSwitch() bool {
	return op.isSwitch() && op.flow != nil && op.flow.loop != nil
}

// releaseExit notes that all gradients of a loop's exit have come. The loop is
// gone through once that is true of all its exits.
func (b *backprop) releaseExit(x Output) {
	l := b.loops.stateFor(x.op, false)
	if l == nil {
		return
	}
	l.deferred = append(l.deferred, x)
	if l.pending--; l.pending > 0 {
		return
	}
	some := false
	for _, y := range l.deferred {
		if b.sums[y] != nil {
			some = true
			b.queue = append(b.queue, y.op)
		} else {
			l.unused = append(l.unused, y)
		}
	}
	for _, y := range l.unused {
		if some && differentiable(y.DType()) {
			b.receive(y, Dense(b.loops.zerosForExit(y)))
		}
		b.queue = append(b.queue, y.op)
	}
}

// unusedExits notes the exits that no gradient can come from, and returns them
// if these are all.
func (l *gradLoop) unusedExits(pending map[*Operation]int, isRoot map[*Operation]bool) (out []Output) {
	for _, y := range l.exits {
		if pending[y.op] > 0 {
			continue
		}
		l.pending--
		if !isRoot[y.op] {
			l.unused = append(l.unused, y)
		}
		if l.pending == 0 {
			out = append(out, l.unused...)
		}
	}
	for _, x := range l.forward.loop.enters {
		if pending[x.op] == 0 {
			pending[x.op] = 1
		}
	}
	return out
}

// results collects the gradients of the xs.
func (b *backprop) results() ([]Gradient, error) {
	out := make([]Gradient, len(b.o.Xs))
	for i, x := range b.o.Xs {
		s := b.total(x)
		if s.IsZero() && b.o.ZeroUnconnected {
			s = Dense(zerosLike(x))
		}
		if err := s.err(); err != nil {
			return nil, err
		}
		out[i] = s
	}
	return out, nil
}
