package fuse

import (
	"slices"

	"github.com/gorge-tf/gorge/internal/kernel/elementwise"
	"github.com/gorge-tf/gorge/tf/core"
)

// Where a cluster folds rows there are two ways to run it. If all folds are of the
// same rows, these are handled one block after another, and a block from its first
// elementwise operation to its last: what is folded, and what the results are
// broadcast to, stays in the cache.
//
//	rows       the cache                                            memory
//	[0, m)     x[0:m] ─ Max ─▶ c0;  Sub x c0 ─ Exp ─▶ r0 ─ Sum ─▶ c1;  r0/c1 ─▶ y[0:m]
//	[m, 2m)    …
//
// Otherwise, as with rows that are too long or of no elements, each fold is a stage.

// rowCut is what cutByRow finds out.
type rowCut struct {
	*planner
	rows, width int
	byRow       []bool // instructions of the stage that goes row by row
	late        []bool // instructions that depend on a fold
}

// cutByRow makes stages of what the rows depend on and one stage of all the rest, and
// reports whether that is possible.
func (m *planner) cutByRow() bool {
	c := &rowCut{planner: m, byRow: make([]bool, len(m.code)), late: make([]bool, len(m.code))}
	if !c.findRows() || !c.assign() {
		return false
	}
	m.cutBySize(m.computed(func(k int) bool { return !c.byRow[k] }))
	m.addStage(c.rows, c.width, m.computed(func(k int) bool { return c.byRow[k] }))
	return true
}

// findRows finds the rows that the folds agree on.
func (c *rowCut) findRows() bool {
	for k := range c.code {
		if c.code[k].fold == nil {
			continue
		}
		width := c.widths[k]
		rows := c.rowsOf(k)
		if c.width == 0 {
			c.rows, c.width = rows, width
		}
		if rows != c.rows || width != c.width || rows == 0 || width < 2 {
			return false
		}
	}
	for k := range c.code {
		size := c.size(k)
		for a := range c.code[k].args {
			size = max(size, c.argSize(k, a))
		}
		if c.width > 2*maxRow/size {
			return false
		}
	}
	return true
}

// assign says which instructions go row by row: folds, what depends on them, and what
// is as large as all rows. It reports false if one of them does not fit.
func (c *rowCut) assign() bool {
	for k := range c.code {
		in, n := &c.code[k], c.shapes[k].NumElements()
		c.late[k] = in.fold != nil || slices.ContainsFunc(in.args, c.isLate)
		c.byRow[k] = c.late[k] || n == c.rows*c.width
		switch {
		case !c.byRow[k] && slices.ContainsFunc(in.args, c.isByRow),
			c.byRow[k] && n != c.rows && n != c.rows*c.width,
			!c.readsRows(k):
			return false
		}
	}
	return true
}

func (c *rowCut) isLate(v int) bool  { return v >= c.first() && c.late[v-c.first()] }
func (c *rowCut) isByRow(v int) bool { return v >= c.first() && c.byRow[v-c.first()] }

// readsRows reports whether what instruction k reads of the stage belongs to the rows
// that it computes: it is as large as the result, or a column that is broadcast.
func (c *rowCut) readsRows(k int) bool {
	if in := &c.code[k]; in.fold != nil {
		return c.shape(in.args[0]).NumElements() == c.rows*c.width
	}
	for a, v := range c.code[k].args {
		if c.isByRow(v) && c.shape(v).NumElements() != c.shapes[k].NumElements() && !c.isColumn(c.views[k][a], c.shapes[k]) {
			return false
		}
	}
	return true
}

// isColumn reports whether an operand has one element for each row of the result.
func (c *rowCut) isColumn(view, to core.Shape) bool {
	b, ok := elementwise.NewBroadcastTo(to, view)
	if !ok || view.NumElements() != c.rows || b.Len != c.rows*c.width {
		return false
	}
	if c.rows == 1 {
		return true
	}
	n, outer := b.Rows()
	return n == c.width && outer[0] == 1 && b.Inner()[0] == 0
}

// cutByFold makes a stage of each fold, and stages of what lies before, between and
// behind folds.
func (m *planner) cutByFold() {
	phase, last := make([]int, len(m.code)), 0
	for k := range m.code {
		for _, v := range m.code[k].args {
			if i := v - m.first(); i >= 0 {
				p := phase[i]
				if m.code[i].fold != nil {
					p++
				}
				phase[k] = max(phase[k], p)
			}
		}
		last = max(last, phase[k])
	}
	for p := range last + 1 {
		m.cutBySize(m.computed(func(k int) bool { return phase[k] == p && m.code[k].fold == nil }))
		for _, k := range m.computed(func(k int) bool { return phase[k] == p && m.code[k].fold != nil }) {
			m.addWhole(k)
		}
	}
}

// rowsOf returns how many rows instruction k folds.
func (m *planner) rowsOf(k int) int {
	if m.code[k].fold.wide {
		return m.shapes[k].NumElements() / max(1, m.widths[k])
	}
	return m.shapes[k].NumElements()
}

// addWhole makes a stage that folds all rows.
func (m *planner) addWhole(k int) {
	st := stage{n: m.rowsOf(k), block: 1, whole: true}
	st.grain = max(1, grainWork/max(1, m.widths[k]))
	st.steps = []step{m.newStep(&st, k)}
	m.at[k] = len(m.stages)
	m.stages = append(m.stages, st)
}
