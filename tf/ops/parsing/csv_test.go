package parsing

import (
	others "encoding/csv"
	"slices"
	"strings"
	"testing"
)

// FuzzDecodeCSV splits any record. What is written as one by others is read as
// they do, and what is read is written again as the same.
func FuzzDecodeCSV(f *testing.F) {
	for _, s := range []string{"", ",", "a,b", `"a",""`, `"a""b",c`, `"a,b"`, "a\r\n", `"`, `"a"b`, `a"b`, `"a`, "a,b,", `"",`, ",,\n"} {
		f.Add(s, true, 0)
		f.Add(s, false, 1)
	}
	f.Fuzz(func(t *testing.T, record string, quotes bool, col int) {
		d := &csv{delim: ',', quotes: quotes}
		fields, err := d.split(nil, record)
		if err != nil {
			return
		}
		if !quotes && !strings.ContainsAny(record, "\r\n") && record != "" && !slices.Equal(fields, strings.Split(record, ",")) {
			t.Errorf("%q is split into %q", record, fields)
		}
		one := &csv{delim: ',', quotes: quotes, cols: []int{col & 7}}
		part, err := one.split(nil, record)
		if err == nil && col&7 < len(fields) && !slices.Equal(part, fields[col&7:col&7+1]) {
			t.Errorf("column %d of %q is %q, all are %q", col&7, record, part, fields)
		}
		if quotes {
			again(t, d, fields)
		}
	})
}

// again writes fields, all of them in quotes, and reads them.
func again(t *testing.T, d *csv, fields []string) {
	quoted := make([]string, len(fields))
	for i, s := range fields {
		quoted[i] = `"` + strings.ReplaceAll(s, `"`, `""`) + `"`
	}
	record := strings.Join(quoted, ",")
	got, err := d.split(nil, record)
	if err != nil || !slices.Equal(got, fields) {
		t.Errorf("%q is read as %q (%v)", record, got, err)
	}
	if len(fields) == 0 || strings.Contains(record, "\r") {
		return
	}
	want, err := others.NewReader(strings.NewReader(record)).Read()
	if err != nil || !slices.Equal(want, fields) {
		t.Errorf("others read %q as %q (%v)", record, want, err)
	}
}
