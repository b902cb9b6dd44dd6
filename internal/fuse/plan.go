package fuse

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/gorge-tf/gorge/internal/kernel"
	"github.com/gorge-tf/gorge/internal/kernel/elementwise"
	"github.com/gorge-tf/gorge/internal/machine"
	"github.com/gorge-tf/gorge/tf/core"
)

const (
	// blockBytes is what a register holds at most. A few of them, and as much of
	// the inputs and outputs, fit into a first-level cache of 32 KiB.
	blockBytes = 8 << 10
	// wideBytes is the same where manyArrays and more are read and written: they do
	// not fit into that cache in any case, and longer runs are read faster.
	wideBytes, manyArrays = 16 << 10, 8
	// foldBytes is the same where rows are folded: there each block takes a call for
	// each column, too, whose elements are few.
	foldBytes = 16 << 10
	// grainWork is how many elements of one instruction are worth a task.
	grainWork = kernel.ElementGrain
	// Rows of longRow elements are read where they are, run by run, if there are
	// few blocks: to repeat them in a buffer takes about as long as two blocks.
	longRow, fewBlocks = 128, 5
)

// A plan says how a program runs for inputs of some shapes.
type plan struct {
	inputs []core.Shape
	shapes []core.Shape // of what each instruction computes, or writes
	wholes []core.Shape // of the outputs
	stages []stage
	at     []int   // by instruction: its stage, or none
	temps  []int   // instructions whose results other stages need, and that do not leave
	reuse  [][]int // by output: inputs in whose memory it may be
	apart  bool    // the inputs contradict the graph: there is nothing of the rest
}

// A stage runs some instructions row by row: what each of them computes has equally many
// rows. Where there is no fold a row is an element.
type stage struct {
	n, block, grain int // rows: of all, of a block, of a task at least
	steps           []step
	registers       int
	room            int   // bytes of a register
	rows            []row // operands that are repeated, prepared once for each range
	expanded        int   // how many operands have to be spread out for each block
	whole           bool  // its one step folds from memory to memory
}

// A step is an instruction of a stage.
type step struct {
	loop     core.Loop
	fold     *fold // instead of a loop
	move     *move // instead of a loop
	args     []arg
	per      int                                      // results for each row
	columns  func(z []byte, in []core.Operand, n int) // instead of a loop, if operands are columns
	value    int                                      // what it computes
	register int                                      // where, or none
	size     int
	runs     *runs            // if it goes run by run; else nil
	spans    bool             // code may be called for each row instead
	code     *machine.Program // instead of a loop: several instructions, whose streams are args
	byRow    bool             // code is called for each row: some streams are columns
	covers   int              // how many instructions
}

// runs is how operands are walked together: the run that begins at result i·n has its
// operands at i times outer, and goes on by inner, 0 or 1. Operands of more dimensions
// are walked by what walk says.
type runs struct {
	walk         *elementwise.Broadcast
	n            int
	outer, inner []int
}

const none = -1

// how an operand is read.
type how uint8

const (
	along    how = iota // as many elements as there are results, in their order
	single              // one element, which the loop repeats
	rowed               // a row that is repeated, from a buffer that holds it several times
	expanded            // spread out into a buffer for each block
	windowed            // a part, which a move copies
	spanned             // the elements of each row follow each other, but rows are repeated
)

// An arg is an operand of a step.
type arg struct {
	value    int
	size     int
	how      how
	register int // where it is, or none: in memory
	per      int // elements for each row, where it is along or in a register
	at       int // rowed: which row; expanded: which buffer
	walk     *elementwise.Broadcast
}

// A row is an operand that begins again after period elements, repeated so that any
// block of so many elements can be read from it.
type row struct{ value, size, period, block int }

// planner makes one plan.
type planner struct {
	*program
	*plan
	views  [][]core.Shape           // of the operands, as they are broadcast
	walks  []*elementwise.Broadcast // by instruction: of its operands; nil if it folds
	widths []int                    // by instruction: of the rows that it folds
}

func newPlan(p *program, inputs []core.Shape) (*plan, error) {
	n := len(p.code)
	m := planner{
		program: p, plan: &plan{inputs: inputs, shapes: make([]core.Shape, 0, n)},
		views: make([][]core.Shape, 0, n), walks: make([]*elementwise.Broadcast, n), widths: make([]int, n),
	}
	switch err := m.inferShapes(); {
	case err == errContradicts:
		return &plan{inputs: inputs, apart: true}, nil
	case err != nil:
		return nil, err
	}
	m.cut()
	for i := range m.stages {
		m.assignRegisters(&m.stages[i])
	}
	m.findReuse()
	for i := range m.stages {
		m.compile(&m.stages[i])
	}
	return m.plan, nil
}

// shape returns the shape of a value.
func (m *planner) shape(v int) core.Shape {
	switch {
	case v < m.program.inputs:
		return m.plan.inputs[v]
	case v < m.first():
		return m.consts[v-m.program.inputs].Shape()
	}
	return m.shapes[v-m.first()]
}

// inferShapes works out all shapes. What does not fit is the error of the node.
func (m *planner) inferShapes() error {
	for i := range m.code {
		in := &m.code[i]
		views := m.operands(in)
		s, err := m.inferShape(i, views)
		if err == errContradicts {
			return err
		}
		if err != nil {
			return core.AtNode(err, in.node, describe(in, m.operands(in)))
		}
		m.shapes, m.views = append(m.shapes, s.Clone()), append(m.views, views)
	}
	return m.inferWholes()
}

// inferWholes works out the shapes of the outputs. Parts of one have to fit together.
func (m *planner) inferWholes() error {
	whole := make(map[int]core.Shape, 1)
	for k := range m.code {
		in := &m.code[k]
		if in.paste == nil {
			continue
		}
		s, err := in.paste.whole(m.shapes[k])
		if err == errContradicts {
			return err
		}
		if first, ok := whole[in.lead]; err == nil && ok && !sameShape(first, s) {
			err = joinError(m.shapes[in.lead], m.shapes[k], k-in.lead, in.paste.axis)
		}
		if err == nil {
			err = core.CheckSize(in.node.OutTypes[0], s)
		}
		if err != nil {
			return core.AtNode(err, in.node, m.describeJoint(in))
		}
		whole[in.lead] = s
	}
	m.wholes = make([]core.Shape, len(m.outs))
	for o, k := range m.outs {
		if m.wholes[o] = m.shapes[k]; m.code[k].paste != nil {
			m.wholes[o] = whole[k]
		}
	}
	return nil
}

// operands returns the shapes of what an instruction reads.
func (m *planner) operands(in *instr) []core.Shape {
	shapes := make([]core.Shape, len(in.args))
	for k, v := range in.args {
		shapes[k] = m.shape(v)
	}
	return shapes
}

// inferShape works out the shape of what instruction k computes, and changes views to
// how its operands are broadcast.
func (m *planner) inferShape(k int, views []core.Shape) (s core.Shape, err error) {
	in := &m.code[k]
	if in.cut != nil {
		return in.cut.part(views[0])
	}
	if in.paste != nil {
		return views[0], nil
	}
	if in.fold != nil {
		if len(views[0]) != in.fold.rank {
			return nil, errContradicts
		}
		if s, m.widths[k] = in.fold.shape(views[0]); m.widths[k] != in.fold.width {
			return nil, errContradicts
		}
		return s, core.CheckSize(in.node.OutTypes[0], s)
	}
	if s, err = in.kernel.Shape(in.node, views); err == nil {
		m.walks[k], err = walk(in, views, s)
	}
	return s, err
}

// describeJoint lists the inputs of the node that joins what one instruction and others
// write.
func (m *planner) describeJoint(in *instr) []string {
	parts := len(in.node.InTypes) - 1
	shapes := append(slices.Clone(m.shapes[in.lead:in.lead+parts]), core.Shape{}) // the last one is the axis
	out := make([]string, len(shapes))
	for i, s := range shapes {
		out[i] = fmt.Sprintf("%v%v", in.node.InTypes[i].Base(), s)
	}
	return out
}

// describe lists the operands of a node as its executor would list its inputs.
func describe(in *instr, shapes []core.Shape) []string {
	out := make([]string, len(shapes))
	for i, s := range shapes {
		d := in.node.InTypes[i].Base()
		if in.moves() {
			d = in.node.OutTypes[0]
		}
		out[i] = fmt.Sprintf("%v%v", d, s)
	}
	return out
}

// walk returns how operands are walked together, and checks what the plan relies on:
// they are broadcast to the result.
func walk(in *instr, views []core.Shape, s core.Shape) (*elementwise.Broadcast, error) {
	if err := core.CheckSize(in.node.OutTypes[0], s); err != nil {
		return nil, err
	}
	b, ok := elementwise.NewBroadcast(ints(views)...)
	if !ok || b.Len != s.NumElements() {
		return nil, core.Errorf(core.Internal, "an elementwise kernel must broadcast its operands to its result, %v do not give %v", views, s)
	}
	return b, nil
}

func ints(shapes []core.Shape) [][]int {
	out := make([][]int, len(shapes))
	for i, s := range shapes {
		out[i] = s
	}
	return out
}

// cut makes the stages.
func (m *planner) cut() {
	m.at = make([]int, len(m.code))
	for k := range m.at {
		m.at[k] = none
	}
	if !slices.ContainsFunc(m.code, func(in instr) bool { return in.fold != nil }) {
		m.cutBySize(m.computed(func(int) bool { return true }))
	} else if !m.cutByRow() {
		m.cutByFold()
	}
}

// computed returns the instructions that are wanted and whose results are not empty.
func (m *planner) computed(wanted func(k int) bool) (code []int) {
	for k, s := range m.shapes {
		if s.NumElements() > 0 && wanted(k) {
			code = append(code, k)
		}
	}
	return code
}

// cutBySize makes a stage of the instructions, none of them a fold, whose results have
// equally many elements, of small ones first: results are at least as large as what
// they are computed from, unless they are empty.
func (m *planner) cutBySize(order []int) {
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(m.shapes[a].NumElements(), m.shapes[b].NumElements()) })
	for len(order) > 0 {
		n := m.shapes[order[0]].NumElements()
		end := slices.IndexFunc(order, func(k int) bool { return m.shapes[k].NumElements() != n })
		if end < 0 {
			end = len(order)
		}
		m.addStage(n, 1, order[:end])
		order = order[end:]
	}
}

// addStage plans the instructions of a stage of rows, the longest of which have width
// elements.
func (m *planner) addStage(rows, width int, code []int) {
	widest := 1
	for _, k := range code {
		widest = max(widest, m.size(k))
		for a := range m.code[k].args {
			widest = max(widest, m.argSize(k, a))
		}
		m.at[k] = len(m.stages)
	}
	bytes := blockBytes
	switch {
	case width > 1:
		bytes = foldBytes
	case m.arrays(code) >= manyArrays:
		bytes = wideBytes
	}
	block := min(rows, max(1, bytes/(widest*width)))
	st := stage{n: rows, block: block, steps: make([]step, 0, len(code)), room: block * width * widest, grain: max(block, grainWork/(width*len(code)))}
	for _, k := range code {
		st.steps = append(st.steps, m.newStep(&st, k))
	}
	m.stages = append(m.stages, st)
}

// arrays counts what instructions read from memory and write there.
func (m *planner) arrays(code []int) int {
	most := len(code)
	for _, k := range code {
		most += len(m.code[k].args)
	}
	if most < manyArrays {
		return most // which are few enough, if some are the same or not
	}
	seen := map[int]bool{}
	for _, k := range code {
		for _, v := range m.code[k].args {
			if i := v - m.first(); i < 0 || !slices.Contains(code, i) {
				seen[v] = true
			}
		}
		if m.leaves(k) {
			seen[m.first()+k] = true
		}
	}
	return len(seen)
}

// newStep decides how the operands of instruction k are read.
func (m *planner) newStep(st *stage, k int) step {
	in := &m.code[k]
	s := step{fold: in.fold, value: m.first() + k, register: none, size: m.size(k), args: make([]arg, len(in.args)), per: m.per(st, m.shapes[k])}
	for a, v := range in.args {
		s.args[a] = arg{value: v, size: m.argSize(k, a), register: none, per: m.per(st, m.shape(v))}
	}
	switch {
	case in.cut != nil:
		s.move, s.args[0].how = in.cut.moveOf(m.shapes[k], false), windowed
	case in.paste != nil:
		s.move = in.paste.moveOf(m.shapes[k], true)
	case in.fold == nil:
		s.loop = in.kernel.Loop
		m.readOperands(st, &s, k)
	}
	return s
}

// per returns how many elements a value has for each row of a stage.
func (m *planner) per(st *stage, s core.Shape) int { return s.NumElements() / st.n }

func (m *planner) readOperands(st *stage, s *step, k int) {
	in := &m.code[k]
	b := m.walks[k]
	direct, repeated := true, false
	for a := range s.args {
		s.args[a].how = m.readAs(b, a, st, s, in.kernel.Repeats)
		direct = direct && s.args[a].how != expanded
		repeated = repeated || b.Inner()[a] == 0
	}
	switch {
	case direct:
		m.addRows(st, s, b)
	case m.columned(s, b, in.kernel):
		s.columns = in.kernel.Columns
	case (in.kernel.Repeats || !repeated) && !b.ShortRuns():
		s.runs, s.spans = newRuns(b), m.span(st, s, k)
	default:
		m.expand(st, s, m.views[k], m.shapes[k])
		m.addRows(st, s, b)
	}
}

// columned reports whether each operand of a step is a column or as large as its result.
func (m *planner) columned(s *step, b *elementwise.Broadcast, k *core.ElementKernel) bool {
	n, outer := b.Rows()
	if k.Columns == nil || !k.Repeats || n != s.per {
		return false
	}
	for a, inner := range b.Inner() {
		if outer[a] != 1 && outer[a] != n || outer[a] == 1 != (inner == 0) {
			return false
		}
	}
	return true
}

func newRuns(b *elementwise.Broadcast) *runs {
	r := &runs{walk: b, inner: b.Inner()}
	r.n, r.outer = b.Rows()
	return r
}

// readAs says how operand a is read if the step is run block by block.
func (m *planner) readAs(b *elementwise.Broadcast, a int, st *stage, s *step, repeats bool) how {
	n, block := b.Len, st.block*s.per
	switch period := b.Period(a); {
	case period == n:
		return along
	case m.computedBy(s.args[a].value):
		return expanded // it is not there yet when a stage begins
	case period == 1 && repeats:
		return single
	case period >= longRow && n < fewBlocks*block:
		return expanded
	case period > 0 && period <= block:
		return rowed
	}
	return expanded
}

// computedBy reports whether a value is computed by the stage that is being made.
func (m *planner) computedBy(v int) bool {
	return v >= m.first() && m.at[v-m.first()] == len(m.stages)
}

// addRows makes room for the rows that a step reads.
func (m *planner) addRows(st *stage, s *step, b *elementwise.Broadcast) {
	for a := range s.args {
		x := &s.args[a]
		if x.how != rowed {
			continue
		}
		r := row{x.value, x.size, b.Period(a), st.block * s.per}
		if x.at = slices.Index(st.rows, r); x.at < 0 {
			x.at, st.rows = len(st.rows), append(st.rows, r)
		}
	}
}

// expand has the operands that are neither whole nor rows spread out for each block.
func (m *planner) expand(st *stage, s *step, views []core.Shape, out core.Shape) {
	for a := range s.args {
		if x := &s.args[a]; x.how == expanded {
			x.walk, _ = elementwise.NewBroadcastTo(out, views[a])
			x.at, st.expanded = st.expanded, st.expanded+1
		}
	}
}
