package main

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strings"
)

const (
	none  = "-"
	later = "later"
	goLib = "go:" // marks counterparts in Go's own library
)

// A row is one object of TensorFlow's, with all its names.
type row struct {
	names  []string // without "tf."
	goes   []string // counterparts; empty if there is none
	later  bool     // they are being written
	note   string
	source int // line of the table
}

// readTable parses the table and checks its form: names occur once, lines are in
// order, and what has no counterpart says why.
func readTable(r io.Reader) (rows []row, err error) {
	scan, seen, before := bufio.NewScanner(r), map[string]int{}, ""
	for n := 1; scan.Scan(); n++ {
		line := strings.TrimSpace(scan.Text())
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		if line < before {
			return nil, fmt.Errorf("line %d: lines must be sorted, %q comes after %q", n, line, before)
		}
		before = line
		x, err := parseRow(line, n)
		if err != nil {
			return nil, err
		}
		for _, name := range x.names {
			if at := seen[name]; at != 0 {
				return nil, fmt.Errorf("line %d: a name must be in one line only, %s is in line %d too", n, name, at)
			}
			seen[name] = n
		}
		rows = append(rows, x)
	}
	return rows, scan.Err()
}

func parseRow(line string, n int) (x row, err error) {
	fields := strings.Split(line, "|")
	if len(fields) < 2 || len(fields) > 3 {
		return x, fmt.Errorf("line %d: a line is NAMES | COUNTERPARTS | NOTE, got %q", n, line)
	}
	x = row{names: strings.Fields(fields[0]), goes: strings.Fields(fields[1]), source: n}
	if len(fields) == 3 {
		x.note = strings.TrimSpace(fields[2])
	}
	switch {
	case len(x.names) == 0 || len(x.goes) == 0:
		return x, fmt.Errorf("line %d: there must be a name and a counterpart, got %q", n, line)
	case slices.Equal(x.goes, []string{none}):
		x.goes = nil
	case slices.Equal(x.goes, []string{later}):
		x.goes, x.later = nil, true
	}
	if len(x.goes) == 0 && x.note == "" {
		return x, fmt.Errorf("line %d: what has no counterpart must say why", n)
	}
	return x, nil
}

// namespace returns "tf" for "abs" and "tf.nn" for "nn.rnn_cell.LSTMCell".
func namespace(name string) string {
	if first, _, ok := strings.Cut(name, "."); ok {
		return "tf." + first
	}
	return "tf"
}

// A count is how many names a namespace has.
type count struct{ have, later, all int }

// share is the part of the names that have counterparts, in percent.
func (c count) share() int { return 100 * c.have / max(c.all, 1) }

// coverage counts the names of each namespace.
func coverage(rows []row) map[string]count {
	out := map[string]count{}
	for _, x := range rows {
		for _, name := range x.names {
			c := out[namespace(name)]
			c.all++
			switch {
			case x.later:
				c.later++
			case len(x.goes) > 0:
				c.have++
			}
			out[namespace(name)] = c
		}
	}
	return out
}
