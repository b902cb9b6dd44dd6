// Package options knows what becomes of each field of the options that sessions
// and steps take: it is served, refused, or without effect. What is without effect
// is told, so that no option is swallowed in silence.
//
// table.txt is the one list. docs/options.md is made from it. Tests compare it
// with the messages' fields and with the fields that the code reads.
package options

import (
	_ "embed"
	"log/slog"
	"strings"
	"sync"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// A Fate is what becomes of a field.
type Fate string

// The fates of fields.
const (
	Served  Fate = "served"  // it does what it says
	Refused Fate = "refused" // setting it is an error
	Ignored Fate = "ignored" // it is logged that it has no effect
)

// A Row says what becomes of the field Name, "ConfigProto.device_count".
type Row struct {
	Name string
	Fate Fate
	Why  string // or how; may be empty
}

//go:embed table.txt
var table string

// Table returns the rows in the order of the messages.
var Table = sync.OnceValue(func() (rows []Row) {
	for line := range strings.Lines(table) {
		if line = strings.TrimSpace(line); line == "" || line[0] == '#' {
			continue
		}
		name, rest, _ := strings.Cut(line, " ")
		fate, why, _ := strings.Cut(rest, " ")
		rows = append(rows, Row{name, Fate(fate), why})
	}
	return rows
})

var byName = sync.OnceValue(func() map[string]Row {
	rows := map[string]Row{}
	for _, r := range Table() {
		rows[r.Name] = r
	}
	return rows
})

// Name returns the name that a field has in the table: that of its message,
// without its package, and its own.
func Name(f protoreflect.FieldDescriptor) string {
	m := f.ContainingMessage()
	return strings.TrimPrefix(string(m.FullName()), string(m.ParentFile().Package())+".") + "." + string(f.Name())
}

// WithoutEffect returns the fields that are set in m, or in messages in it, and
// have no effect. Fields that are served field by field are looked into.
func WithoutEffect(m proto.Message) (rows []Row) {
	m.ProtoReflect().Range(func(f protoreflect.FieldDescriptor, v protoreflect.Value) bool {
		row := byName()[Name(f)]
		switch {
		case row.Fate == Ignored:
			rows = append(rows, row)
		case f.Kind() == protoreflect.MessageKind && !f.IsList() && !f.IsMap():
			rows = append(rows, WithoutEffect(v.Message().Interface())...)
		}
		return true
	})
	return rows
}

// A Teller logs options without effect, each once. It is safe for concurrent use.
type Teller struct {
	told sync.Map // of names
}

// Tell logs what in m has no effect and was not logged yet.
func (t *Teller) Tell(log *slog.Logger, m proto.Message) {
	for _, row := range WithoutEffect(m) {
		if _, again := t.told.LoadOrStore(row.Name, true); !again {
			log.Warn("an option has no effect here", "option", row.Name, "why", row.Why)
		}
	}
}
