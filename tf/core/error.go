package core

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/gorge-tf/gorge/internal/memory"
	"github.com/gorge-tf/gorge/internal/resource"
)

// A Code is one of TensorFlow's canonical error codes, which are gRPC's.
type Code int

// The canonical codes.
const (
	OK                 Code = 0
	Canceled           Code = 1
	Unknown            Code = 2
	InvalidArgument    Code = 3
	DeadlineExceeded   Code = 4
	NotFound           Code = 5
	AlreadyExists      Code = 6
	PermissionDenied   Code = 7
	ResourceExhausted  Code = 8
	FailedPrecondition Code = 9
	Aborted            Code = 10
	OutOfRange         Code = 11
	Unimplemented      Code = 12
	Internal           Code = 13
	Unavailable        Code = 14
	DataLoss           Code = 15
	Unauthenticated    Code = 16
)

var codeNames = [...]string{"OK", "CANCELLED", "UNKNOWN", "INVALID_ARGUMENT", "DEADLINE_EXCEEDED", "NOT_FOUND",
	"ALREADY_EXISTS", "PERMISSION_DENIED", "RESOURCE_EXHAUSTED", "FAILED_PRECONDITION", "ABORTED", "OUT_OF_RANGE",
	"UNIMPLEMENTED", "INTERNAL", "UNAVAILABLE", "DATA_LOSS", "UNAUTHENTICATED"}

// String returns TensorFlow's name of c: "INVALID_ARGUMENT".
func (c Code) String() string {
	if c < 0 || int(c) >= len(codeNames) {
		return fmt.Sprintf("CODE(%d)", int(c))
	}
	return codeNames[c]
}

// An Error is what every failing function of Gorge returns: a canonical code,
// what is wrong, and, when a node is to blame, which one, where the program
// added it and what its inputs were.
type Error struct {
	Code Code
	Msg  string
	Node string   // "layer1/MatMul_2", empty when no node is to blame
	Op   string   // "MatMul"; without a node the function that the program called: "Map"
	Pos  string   // where the program added the node: "model.go:17"
	In   []string // inputs with dtypes and shapes; empty if there are none, or they are not known
	Err  error    // the cause, if it is an error of its own

	// Plain is what Error prints in place of Msg where TensorFlow's words, which
	// Msg keeps, speak of its own clients; "" elsewhere.
	Plain string

	// Origin is the function that the node is from and what it is called there,
	// if it is from one. TensorFlow's clients get these names, too.
	Origin Origin

	// Derived marks an error that follows from another one of the same step
	// (a cancelled receive, say), which is the one to report.
	Derived bool
}

// Error formats e as "main.go:30: MatMul "MatMul_3"(x:0 float32[?,784]): message".
// Where no more than a node's name is known, as with nodes that a master adds, the
// code comes first. What is made outside of graphs has no node: "main.go:12: Map: message".
func (e *Error) Error() string {
	if e.Node == "" && e.Op == "" {
		return e.Code.String() + ": " + cmp.Or(e.Plain, e.Message())
	}
	if e.Op == "" && e.Pos == "" {
		return fmt.Sprintf("%v: node %q: %s", e.Code, e.Node, cmp.Or(e.Plain, e.Message()))
	}
	pos := e.Pos
	if pos != "" {
		pos += ": "
	}
	if e.Node == "" {
		return fmt.Sprintf("%s%s: %s", pos, e.Op, cmp.Or(e.Plain, e.Message()))
	}
	inputs := ""
	if len(e.In) > 0 {
		inputs = "(" + strings.Join(e.In, ", ") + ")"
	}
	return fmt.Sprintf("%s%s %q%s: %s", pos, e.Op, e.Node, inputs, cmp.Or(e.Plain, e.Message()))
}

// Message returns the bare text, without code and node.
func (e *Error) Message() string {
	if e.Msg == "" && e.Err != nil {
		return e.Err.Error()
	}
	return e.Msg
}

// WireMessage returns the text as it crosses a wire: the message, and the node
// in the form in which TensorFlow's clients look for it. Messages of Protocol
// Buffers hold UTF-8 alone: U+FFFD stands for what is not.
func (e *Error) WireMessage() string {
	msg := strings.ToValidUTF8(e.Message(), "\uFFFD")
	if e.Node == "" || strings.Contains(msg, "[[{{node ") || strings.Contains(msg, "[[{{function_node ") {
		return msg
	}
	return fmt.Sprintf("%s\n\t [[%v]]", msg, cmp.Or(e.Origin, Origin{Node: e.Node}))
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// Is makes errors.Is(err, &Error{Code: c}) a test of the code alone.
func (e *Error) Is(target error) bool {
	t, ok := target.(*Error)
	return ok && t.Msg == "" && t.Node == "" && t.Err == nil && t.Code == e.Code
}

// Errorf returns an Error of the given code. What the format takes by %w is its
// cause, as with fmt.Errorf.
func Errorf(c Code, format string, args ...any) error {
	text := fmt.Errorf(format, args...)
	e := &Error{Code: c, Msg: text.Error(), Err: errors.Unwrap(text)}
	if _, several := text.(interface{ Unwrap() []error }); several {
		e.Err = text
	}
	return e
}

// CodeOf returns the canonical code of err: OK for nil, Unknown for an error
// that says nothing of codes.
func CodeOf(err error) Code {
	var e *Error
	var r *resource.Error
	var m *memory.Exhausted
	switch {
	case err == nil:
		return OK
	case errors.As(err, &e):
		return e.Code
	case errors.As(err, &r):
		return resourceCodes[r.Kind]
	case errors.As(err, &m):
		return ResourceExhausted
	case errors.Is(err, context.DeadlineExceeded):
		return DeadlineExceeded
	case errors.Is(err, context.Canceled):
		return Canceled
	}
	return Unknown
}

var resourceCodes = map[resource.Kind]Code{
	resource.NotFound: NotFound, resource.AlreadyExists: AlreadyExists, resource.InvalidArgument: InvalidArgument,
}

// AsError returns err as an *Error, wrapping it when it is none. Of an error
// that wraps one which names its node, that one is what counts.
func AsError(err error) *Error {
	var e *Error
	if errors.As(err, &e) && (error(e) == err || e.Node != "") {
		return e
	}
	return &Error{Code: CodeOf(err), Err: err, Derived: e != nil && e.Derived}
}

// AtNode returns err with node n and its inputs named, unless it names a node
// already. Executors and graphs call it, kernels do not.
func AtNode(err error, n *Node, in []string) *Error {
	e := *AsError(err)
	if e.Node != "" {
		return &e
	}
	if e.Op != "" { // a stage outside of graphs, which the node's operation ran
		e.Msg, e.Plain = e.Error(), ""
	}
	e.Node, e.Op, e.Pos, e.In, e.Origin = n.Name, n.OpName(), n.Pos(), in, n.origin
	return &e
}
