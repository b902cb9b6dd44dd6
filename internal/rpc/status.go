package rpc

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/pb"
)

const (
	// detailsKey is the trailer in which TensorFlow's peers put the payloads
	// of a status. gRPC's own libraries expect a google.rpc.Status there.
	detailsKey = "grpc-status-details-bin"

	derivedPayload = "type.googleapis.com/tensorflow.DerivedStatus"

	// maxMessageText bounds the text of a status, which travels in a header.
	maxMessageText = 3072
	truncated      = " ... [truncated]"
)

// toStatus returns err as the status that a call ends with. What a status has
// no room for goes to the trailer of the call that ctx belongs to.
func toStatus(ctx context.Context, err error) error {
	var e *core.Error
	if !errors.As(err, &e) {
		if _, ok := status.FromError(err); ok {
			return err
		}
		e = core.AsError(err)
	}
	if e.Derived {
		// This fails only outside of a call, where it would not be read.
		_ = grpc.SetTrailer(ctx, derivedTrailer())
	}
	if e.Code == core.Canceled && errors.Is(ctx.Err(), context.DeadlineExceeded) {
		// The caller's own clock may be a little behind: it is to hear why
		// all was cancelled.
		return status.Error(codes.DeadlineExceeded, "Deadline Exceeded")
	}
	return status.Error(codes.Code(e.Code), truncate(e.WireMessage()))
}

func derivedTrailer() metadata.MD {
	b, err := proto.Marshal(&pb.GrpcPayloadContainer{Payloads: map[string][]byte{derivedPayload: {}}})
	if err != nil {
		return nil // not possible for a message without required fields
	}
	return metadata.Pairs(detailsKey, string(b))
}

func truncate(s string) string {
	if len(s) <= maxMessageText {
		return s
	}
	return s[:maxMessageText] + truncated
}

// fromStatus returns what a call ended with as an error of TensorFlow's kind.
func fromStatus(err error, trailer metadata.MD) error {
	if err == nil {
		return nil
	}
	s, ok := status.FromError(err)
	if !ok {
		return core.AsError(err)
	}
	details := trailer.Get(detailsKey)
	if len(details) != 1 {
		return &core.Error{Code: core.Code(s.Code()), Msg: s.Message(), Err: silence(err)}
	}
	code, msg := restore(s.Code(), s.Message())
	_, derived := payloads(details[0])[derivedPayload]
	return &core.Error{Code: core.Code(code), Msg: msg, Derived: derived}
}

// silence returns err if it says that the peer did not answer, else nil.
func silence(err error) error {
	if errors.Is(err, ErrSilent) {
		return ErrSilent
	}
	return nil
}

// withTask adds the task to an error that comes of a task's end, or of its having forgotten
// what came before, in the words by which TensorFlow's
// ClusterCoordinator tells lost parameter servers from lost workers.
func withTask(cc grpc.ClientConnInterface, path string, err error) error {
	ch, ok := cc.(*Channel)
	if !ok || err == nil {
		return err
	}
	e := *core.AsError(err)
	if e.Derived || e.Code != core.Unavailable && e.Code != core.Aborted {
		return err
	}
	if unresolved(e.Msg) {
		e.Msg = unknownHost(ch, e.Msg)
	}
	if ch.task != "" {
		e.Msg = fmt.Sprintf("%s\nAdditional GRPC error information from remote target %s while calling %s", e.WireMessage(), ch.task, path)
	}
	return &e
}

// unknownHost says which host of which task has no address.
func unknownHost(ch *Channel, text string) string {
	host, _, _ := net.SplitHostPort(ch.watch.addr)
	return fmt.Sprintf("the host of %s must be known by name, no address was found for %q: %s", cmp.Or(ch.task, ch.watch.addr), host, text)
}

// unresolved reports whether a text of gRPC says that there is no address for the name of a host.
func unresolved(text string) bool {
	return strings.Contains(text, "name resolver error") || strings.Contains(text, "produced zero addresses")
}

// payloads reads the payloads of a status; what is no list of them has none.
func payloads(details string) map[string][]byte {
	var c pb.GrpcPayloadContainer
	if err := proto.Unmarshal([]byte(details), &c); err != nil {
		return nil
	}
	return c.GetPayloads()
}

// restore undoes what gRPC's Go library makes of a status with payloads: it
// takes them for a google.rpc.Status with code 0, and replaces code and text
// by a complaint that quotes the real ones.
func restore(code codes.Code, msg string) (codes.Code, string) {
	rest, ok := strings.CutPrefix(msg, detailsKey+" mismatch: grpc-status=")
	if code != codes.Internal || !ok {
		return code, msg
	}
	name, rest, ok := strings.Cut(rest, ", grpc-message=")
	if !ok {
		return code, msg
	}
	quoted, err := strconv.QuotedPrefix(rest)
	if err != nil {
		return code, msg
	}
	text, err := strconv.Unquote(quoted)
	actual, ok := codeNamed(name)
	if err != nil || !ok {
		return code, msg
	}
	return actual, text
}

func codeNamed(name string) (codes.Code, bool) {
	for c := codes.OK; c <= codes.Unauthenticated; c++ {
		if c.String() == name {
			return c, true
		}
	}
	return codes.Unknown, false
}
