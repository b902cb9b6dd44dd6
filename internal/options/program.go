package options

import (
	_ "embed"
	"log/slog"
	"strings"
	"sync"
)

// A ProgramRow says what becomes of a field of the options that Go programs give,
// "Config.Threads", in sessions of this process and on clusters.
type ProgramRow struct {
	Name           string
	Local, Cluster Fate
	Why            string // or how; may be empty
}

//go:embed program.txt
var programTable string

// ProgramTable returns the rows in the order of the fields.
var ProgramTable = sync.OnceValue(func() (rows []ProgramRow) {
	for line := range strings.Lines(programTable) {
		if line = strings.TrimSpace(line); line == "" || line[0] == '#' {
			continue
		}
		f := strings.SplitN(line+"  ", " ", 4)
		rows = append(rows, ProgramRow{f[0], Fate(f[1]), Fate(f[2]), strings.TrimSpace(f[3])})
	}
	return rows
})

var programRow = sync.OnceValue(func() map[string]ProgramRow {
	rows := map[string]ProgramRow{}
	for _, r := range ProgramTable() {
		rows[r.Name] = r
	}
	return rows
})

// Fate returns what becomes of the field where the session is.
func (r ProgramRow) Fate(onCluster bool) Fate {
	if onCluster {
		return r.Cluster
	}
	return r.Local
}

// TellProgram logs which of the fields that a program has set have no effect where
// its session is, if that was not logged yet.
func (t *Teller) TellProgram(log *slog.Logger, onCluster bool, fields []string) {
	for _, name := range fields {
		row := programRow()[name]
		if row.Fate(onCluster) != Ignored {
			continue
		}
		if _, again := t.told.LoadOrStore(name, true); !again {
			log.Warn("an option has no effect here", "option", name, "why", row.Why)
		}
	}
}
