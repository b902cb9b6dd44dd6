package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// intro begins the page; ~ stands for the quotes of code.
const intro = `# From Python

<!-- Generated from from-python.txt by: go run ./internal/gen/frompython -->

This page lists the public names of TensorFlow 2.21's ~tf.compat.v1~ that build or run graphs, and what they are called here. Package
names are those of directories below tf: ~ops/linalg.Svd~ is in ~github.com/gorge-tf/gorge/tf/ops/linalg~, ~tf.Graph~ in tf itself. Names that
Python has several times are in each of their namespaces. Not listed are raw_ops, whose operations have the same names in tf/ops and the
packages below it ([OPS.md](../OPS.md)), and app, autograph, flags, keras, lite, logging, mlir, test and tpu.

A few rules cover most of the differences:

- There is no default graph. Functions that begin a graph, such as ~ops.Const~, take it first; the others find it through their inputs.
- Outputs have methods for the usual operations: ~x.Add(y)~, ~x.MatMul(w)~, ~x.Sum(0)~, ~x.At("1:, ::2")~. Operands may be Go numbers.
- Optional arguments are a struct of options at the end: ~ops.Conv2D(x, f, strides, "SAME", ops.WindowOpts{Dilations: d})~; names and devices
  are ~tf.Name~ and ~tf.OnDevice~.
- The graph keeps mistakes, and whoever uses it returns them: ~session.New~, ~Run~, ~tf.Gradients~.
- ~with tf.name_scope(...)~ is ~g.Scope(name, func() { ... })~; so are device, control_dependencies and variable_scope.
- ~ops.X~ is the operation X as TensorFlow declares it. Where Python's function of that name does more, the note says so. Seven old operations, such
  as Div and Gather, are in ~ops/raw~: ~ops.Div~ and ~ops.Gather~ are what TensorFlow's API means by these names today.

`

// page writes the page of the table.
func page(rows []row) string {
	var b strings.Builder
	b.WriteString(strings.ReplaceAll(intro, "~", "`"))
	counts := coverage(rows)
	spaces := slices.Sorted(maps.Keys(counts))
	total := count{}
	b.WriteString("| namespace | names | counterparts | being written | none | |\n|---|---|---|---|---|---|\n")
	for _, s := range spaces {
		c := counts[s]
		total = count{total.have + c.have, total.later + c.later, total.all + c.all}
		fmt.Fprintf(&b, "| [%s](#%s) | %d | %d | %d | %d | %d %% |\n", s, anchor(s), c.all, c.have, c.later, c.all-c.have-c.later, c.share())
	}
	fmt.Fprintf(&b, "| all | %d | %d | %d | %d | %d %% |\n", total.all, total.have, total.later, total.all-total.have-total.later, total.share())
	for _, s := range spaces {
		section(&b, s, rows)
	}
	return b.String()
}

// anchor is the fragment that a heading has.
func anchor(s string) string { return strings.ReplaceAll(s, ".", "") }

// section writes the names of one namespace.
func section(b *strings.Builder, space string, rows []row) {
	type line struct{ name, rest string }
	var lines []line
	for _, x := range rows {
		for _, n := range x.names {
			if namespace(n) == space {
				lines = append(lines, line{n, x.right()})
			}
		}
	}
	slices.SortFunc(lines, func(a, b line) int { return strings.Compare(a.name, b.name) })
	fmt.Fprintf(b, "\n## %s\n\n| Python | Go | |\n|---|---|---|\n", space)
	for _, l := range lines {
		fmt.Fprintf(b, "| `tf.%s` | %s |\n", l.name, l.rest)
	}
}

// right returns the cells with the counterparts and the note.
func (x row) right() string {
	var goes []string
	for _, g := range x.goes {
		goes = append(goes, "`"+strings.TrimPrefix(g, goLib)+"`")
	}
	cell := strings.Join(goes, ", ")
	switch {
	case x.later:
		cell = "being written"
	case cell == "":
		cell = "none"
	}
	return cell + " | " + x.note
}
