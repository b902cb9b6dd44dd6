package timeline

import (
	"encoding/json"
	"io"
)

// event is one line of a trace. See Chrome's trace event format for what the
// letters mean; metadata ("M") has no time and category.
type event struct {
	Phase    string         `json:"ph"`
	Category string         `json:"cat,omitempty"`
	Name     string         `json:"name"`
	Pid      int            `json:"pid"`
	Tid      *int           `json:"tid,omitempty"`
	Time     *int64         `json:"ts,omitempty"`
	Duration *int64         `json:"dur,omitempty"`
	ID       *int           `json:"id,omitempty"`
	Args     map[string]any `json:"args,omitempty"`
}

// trace collects events. Metadata goes first.
type trace struct{ metadata, events []event }

// place is where and when something happens.
type place struct {
	pid, tid int
	time     int64
}

func (t *trace) add(phase, category, name string, at place) *event {
	t.events = append(t.events, event{Phase: phase, Category: category, Name: name, Pid: at.pid, Tid: &at.tid, Time: &at.time})
	return &t.events[len(t.events)-1]
}

// process names what a pid stands for.
func (t *trace) process(name string, pid int) {
	t.metadata = append(t.metadata, event{Phase: "M", Name: "process_name", Pid: pid, Args: map[string]any{"name": name}})
}

func (t *trace) region(name string, at place, duration int64, args map[string]any) {
	e := t.add("X", "Op", name, at)
	e.Duration, e.Args = &duration, args
}

// object tells of a tensor: "N" that it is made, "O" what it is, "D" that it is
// gone.
func (t *trace) object(phase, name string, at place, id int) *event {
	e := t.add(phase, "Tensor", name, at)
	e.ID = &id
	return e
}

// flow draws an arrow.
func (t *trace) flow(name string, from, to place, id int) {
	t.add("s", "DataFlow", name, from).ID = &id
	t.add("t", "DataFlow", name, to).ID = &id
}

func (t *trace) counter(name string, at place, value int64) {
	t.add("C", "Memory", name, at).Args = map[string]any{name: value}
}

// write writes the trace as JSON.
func (t *trace) write(w io.Writer) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "    ")
	return e.Encode(map[string]any{"traceEvents": append(append([]event{}, t.metadata...), t.events...)})
}
