package program

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"
)

func TestStart(t *testing.T) {
	var out strings.Builder
	broken := errors.New("broken")
	work := func(_ context.Context, out io.Writer) error { io.WriteString(out, "work"); return broken }
	if err := start(t.Context(), []string{"-epochs", "3"}, &out, work); err == nil || !strings.Contains(err.Error(), `got ["-epochs" "3"]`) || out.Len() > 0 {
		t.Errorf("%v, %q", err, out.String())
	}
	if err := start(t.Context(), nil, &out, work); err != broken || out.String() != "work" {
		t.Errorf("%v, %q", err, out.String())
	}
}
