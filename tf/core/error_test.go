package core_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"testing"

	"github.com/gorge-tf/gorge/internal/resource"
	"github.com/gorge-tf/gorge/tf/core"
)

func TestCodeNames(t *testing.T) {
	for c, want := range map[core.Code]string{
		core.OK: "OK", core.Canceled: "CANCELLED", core.InvalidArgument: "INVALID_ARGUMENT", core.OutOfRange: "OUT_OF_RANGE",
		core.Unauthenticated: "UNAUTHENTICATED", 17: "CODE(17)", -1: "CODE(-1)",
	} {
		if c.String() != want {
			t.Errorf("code %d is %q, want %q", int(c), c, want)
		}
	}
}

func TestCodeOf(t *testing.T) {
	type thing struct{}
	_, missing := resource.Lookup[*thing](resource.NewManager("localhost"), "", "x")
	for _, c := range []struct {
		err  error
		want core.Code
	}{
		{nil, core.OK}, {errors.New("x"), core.Unknown}, {core.Errorf(core.Aborted, "x"), core.Aborted},
		{fmt.Errorf("around: %w", core.Errorf(core.Aborted, "x")), core.Aborted},
		{context.Canceled, core.Canceled}, {fmt.Errorf("x: %w", context.DeadlineExceeded), core.DeadlineExceeded}, {missing, core.NotFound},
	} {
		if got := core.CodeOf(c.err); got != c.want {
			t.Errorf("%v has code %v, want %v", c.err, got, c.want)
		}
	}
}

func TestErrorText(t *testing.T) {
	cause := errors.New("no such thing")
	for _, c := range []struct {
		e            *core.Error
		text, onWire string
	}{
		{&core.Error{Code: core.NotFound, Msg: "gone"}, "NOT_FOUND: gone", "gone"},
		{&core.Error{Code: core.NotFound, Err: cause}, "NOT_FOUND: no such thing", "no such thing"},
		{&core.Error{Msg: "bad", Node: "a/b", Op: "Neg", Pos: "main.go:3", In: []string{"x:0 float32[]", "y"}}, `main.go:3: Neg "a/b"(x:0 float32[], y): bad`, "bad\n\t [[{{node a/b}}]]"},
		{&core.Error{Msg: "bad", Node: "n", Op: "Neg"}, `Neg "n": bad`, "bad\n\t [[{{node n}}]]"},
		{&core.Error{Code: core.Unavailable, Msg: "bad", Node: "n_S3"}, `UNAVAILABLE: node "n_S3": bad`, "bad\n\t [[{{node n_S3}}]]"},
		{&core.Error{Msg: "bad [[{{node m}}]]", Node: "n", Op: "Neg"}, `Neg "n": bad [[{{node m}}]]`, "bad [[{{node m}}]]"},
	} {
		if c.e.Error() != c.text || c.e.WireMessage() != c.onWire {
			t.Errorf("got %q and %q, want %q and %q", c.e.Error(), c.e.WireMessage(), c.text, c.onWire)
		}
	}
}

func TestErrorsIs(t *testing.T) {
	cause := errors.New("cause")
	err := fmt.Errorf("around: %w", &core.Error{Code: core.Aborted, Msg: "x", Err: cause})
	if !errors.Is(err, &core.Error{Code: core.Aborted}) || errors.Is(err, &core.Error{Code: core.Internal}) || !errors.Is(err, cause) {
		t.Error("errors.Is does not go by code and cause")
	}
	if errors.Is(err, &core.Error{Code: core.Aborted, Msg: "y"}) {
		t.Error("an error with another message counts as the same")
	}
}

func TestAsError(t *testing.T) {
	plain := errors.New("plain")
	if e := core.AsError(plain); e.Code != core.Unknown || e.Message() != "plain" || !errors.Is(e, plain) {
		t.Errorf("got %+v", e)
	}
	own := core.Errorf(core.Aborted, "x")
	if core.AsError(own) != own {
		t.Error("an Error was wrapped")
	}
	if e := core.AsError(fmt.Errorf("reading: %w", own)); e.Code != core.Aborted || e.Message() != "reading: ABORTED: x" {
		t.Errorf("the text around an error is lost: %v", e)
	}
	if e := core.AsError(fmt.Errorf("x: %w", &core.Error{Code: core.Canceled, Derived: true})); !e.Derived {
		t.Error("a derived error became one of its own")
	}
	node := &core.Error{Code: core.Aborted, Msg: "x", Node: "n"}
	if e := core.AsError(fmt.Errorf("step: %w", node)); e != node {
		t.Errorf("the node is lost: %v", e)
	}
}

func TestAtNode(t *testing.T) {
	n := &core.Node{Name: "n"}
	plain := core.Errorf(core.Aborted, "x")
	e := core.AtNode(plain, n, []string{"a"})
	if e.Node != "n" || e.Code != core.Aborted || core.AsError(plain).Node != "" {
		t.Errorf("got %+v, the original is %+v", e, plain)
	}
	if again := core.AtNode(e, &core.Node{Name: "m"}, nil); again.Node != "n" {
		t.Errorf("another node took the blame: %+v", again)
	}
}

func TestErrorfKeepsCauses(t *testing.T) {
	plain := core.Errorf(core.NotFound, "no %s", "file")
	if e := plain.(*core.Error); e.Msg != "no file" || e.Err != nil {
		t.Errorf("got %+v", e)
	}
	one := core.Errorf(core.NotFound, "reading: %w", fs.ErrNotExist)
	if !errors.Is(one, fs.ErrNotExist) || core.CodeOf(one) != core.NotFound || one.Error() != "NOT_FOUND: reading: file does not exist" {
		t.Errorf("got %v", one)
	}
	inner := core.Errorf(core.Aborted, "stopped")
	two := core.Errorf(core.DataLoss, "%w and %w", fs.ErrNotExist, inner)
	if !errors.Is(two, fs.ErrNotExist) || !errors.Is(two, inner) || core.CodeOf(two) != core.DataLoss {
		t.Errorf("got %v", two)
	}
}

// TestWireMessageOfBytes: what crosses a wire is UTF-8.
func TestWireMessageOfBytes(t *testing.T) {
	e := &core.Error{Code: core.InvalidArgument, Msg: "no number: \xff1"}
	if got, want := e.WireMessage(), "no number: \uFFFD1"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
