package main

import (
	"bytes"
	"testing"
)

func TestPrinter(t *testing.T) {
	var out, err bytes.Buffer
	p := printer(&out, &err)
	p("stdout", "a\n")
	p("stderr", "b\n")
	p("log(warning)", "c")
	if out.String() != "a\n" || err.String() != "b\nWARNING: c\n" {
		t.Errorf("stdout %q, stderr %q", out.String(), err.String())
	}
}
