package step

import (
	"context"
	"fmt"
	"strings"

	"github.com/gorge-tf/gorge/internal/executor"
	"github.com/gorge-tf/gorge/tf/core"
)

// timedOut is TensorFlow's text for a step that its deadline has ended.
const timedOut = "Timed out waiting for notification"

// whereabouts is what Explained says of a step, and, if its deadline has ended it, which nodes
// its parts have given up: a deadline alone does not tell what was waited for.
func whereabouts(ctx context.Context, err error, parts []*core.Error) error {
	err = Explained(ctx, err)
	if e, ok := err.(*core.Error); !ok || e.Code != core.DeadlineExceeded || e.Msg != timedOut {
		return err
	}
	e := *core.AsError(err)
	for _, p := range parts {
		if at := whereabout(ctx, p); at != "" && !strings.Contains(e.Msg, at) {
			e.Msg += "; " + at
		}
	}
	return &e
}

// whereabout says where a part was that the end of ctx has ended, "" where that says nothing.
func whereabout(ctx context.Context, e *core.Error) string {
	switch inner, ofFunction := strings.CutPrefix(e.Msg, timedOut+"; "); {
	case ofFunction:
		return inner
	case e.Node == "" || strings.HasPrefix(e.Op, "_") || core.CodeOf(Explained(ctx, e)) != core.DeadlineExceeded:
		return ""
	}
	what, pos := "was waiting", ""
	if executor.Stopped(e) {
		what = "was running"
	}
	if e.Pos != "" {
		pos = " of " + e.Pos
	}
	return fmt.Sprintf("%s %q%s %s", e.Op, e.Node, pos, what)
}
