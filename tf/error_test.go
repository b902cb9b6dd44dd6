package tf_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/gorge-tf/gorge/internal/resource"
	"github.com/gorge-tf/gorge/tf"
)

func TestCodeNames(t *testing.T) {
	for c, want := range map[tf.Code]string{
		tf.OK: "OK", tf.Canceled: "CANCELLED", tf.InvalidArgument: "INVALID_ARGUMENT", tf.OutOfRange: "OUT_OF_RANGE",
		tf.Unauthenticated: "UNAUTHENTICATED", 17: "CODE(17)", -1: "CODE(-1)",
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
		want tf.Code
	}{
		{nil, tf.OK}, {errors.New("x"), tf.Unknown}, {tf.Errorf(tf.Aborted, "x"), tf.Aborted},
		{fmt.Errorf("around: %w", tf.Errorf(tf.Aborted, "x")), tf.Aborted},
		{context.Canceled, tf.Canceled}, {fmt.Errorf("x: %w", context.DeadlineExceeded), tf.DeadlineExceeded}, {missing, tf.NotFound},
	} {
		if got := tf.CodeOf(c.err); got != c.want {
			t.Errorf("%v has code %v, want %v", c.err, got, c.want)
		}
	}
}

func TestErrorText(t *testing.T) {
	cause := errors.New("no such thing")
	for _, c := range []struct {
		e            *tf.Error
		text, onWire string
	}{
		{&tf.Error{Code: tf.NotFound, Msg: "gone"}, "NOT_FOUND: gone", "gone"},
		{&tf.Error{Code: tf.NotFound, Err: cause}, "NOT_FOUND: no such thing", "no such thing"},
		{&tf.Error{Msg: "bad", Node: "a/b", Op: "Neg", Pos: "main.go:3", In: []string{"x:0 float32[]", "y"}}, `main.go:3: Neg "a/b"(x:0 float32[], y): bad`, "bad\n\t [[{{node a/b}}]]"},
		{&tf.Error{Msg: "bad", Node: "n", Op: "Neg"}, `Neg "n"(): bad`, "bad\n\t [[{{node n}}]]"},
		{&tf.Error{Msg: "bad [[{{node m}}]]", Node: "n", Op: "Neg"}, `Neg "n"(): bad [[{{node m}}]]`, "bad [[{{node m}}]]"},
	} {
		if c.e.Error() != c.text || c.e.WireMessage() != c.onWire {
			t.Errorf("got %q and %q, want %q and %q", c.e.Error(), c.e.WireMessage(), c.text, c.onWire)
		}
	}
}

func TestErrorsIs(t *testing.T) {
	cause := errors.New("cause")
	err := fmt.Errorf("around: %w", &tf.Error{Code: tf.Aborted, Msg: "x", Err: cause})
	if !errors.Is(err, &tf.Error{Code: tf.Aborted}) || errors.Is(err, &tf.Error{Code: tf.Internal}) || !errors.Is(err, cause) {
		t.Error("errors.Is does not go by code and cause")
	}
	if errors.Is(err, &tf.Error{Code: tf.Aborted, Msg: "y"}) {
		t.Error("an error with another message counts as the same")
	}
}

func TestAsError(t *testing.T) {
	plain := errors.New("plain")
	if e := tf.AsError(plain); e.Code != tf.Unknown || e.Message() != "plain" || !errors.Is(e, plain) {
		t.Errorf("got %+v", e)
	}
	own := tf.Errorf(tf.Aborted, "x")
	if tf.AsError(own) != own {
		t.Error("an Error was wrapped")
	}
	if e := tf.AsError(fmt.Errorf("reading: %w", own)); e.Code != tf.Aborted || e.Message() != "reading: ABORTED: x" {
		t.Errorf("the text around an error is lost: %v", e)
	}
	if e := tf.AsError(fmt.Errorf("x: %w", &tf.Error{Code: tf.Canceled, Derived: true})); !e.Derived {
		t.Error("a derived error became one of its own")
	}
	node := &tf.Error{Code: tf.Aborted, Msg: "x", Node: "n"}
	if e := tf.AsError(fmt.Errorf("step: %w", node)); e != node {
		t.Errorf("the node is lost: %v", e)
	}
}

func TestAtNode(t *testing.T) {
	n := &tf.Node{Name: "n"}
	plain := tf.Errorf(tf.Aborted, "x")
	e := tf.AtNode(plain, n, []string{"a"})
	if e.Node != "n" || e.Code != tf.Aborted || tf.AsError(plain).Node != "" {
		t.Errorf("got %+v, the original is %+v", e, plain)
	}
	if again := tf.AtNode(e, &tf.Node{Name: "m"}, nil); again.Node != "n" {
		t.Errorf("another node took the blame: %+v", again)
	}
}
