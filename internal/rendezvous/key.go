package rendezvous

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/gorge-tf/gorge/tf/core"
)

// A Key names one transfer of one step: an edge between two devices, and the
// frame and iteration in which it happens.
type Key struct {
	Src            string // full name of the device that sends
	SrcIncarnation uint64 // of that device, which tells a restarted task
	Dst            string // full name of the device that receives
	Edge           string // attribute tensor_name of the Send and Recv nodes
	Frame          uint64 // 0 outside of loops, see FrameID
	Iter           int64
}

// KeyOf returns the key under which a Send or Recv node transfers outside of
// loops, from the attributes that partitioning has given it.
func KeyOf(n *core.Node) Key {
	return Key{Src: n.Str("send_device"), SrcIncarnation: uint64(n.Int("send_device_incarnation")), Dst: n.Str("recv_device"), Edge: n.Str("tensor_name")}
}

// String returns the key as peers know it.
func (k Key) String() string { return k.Stem().Key(k.Frame, k.Iter) }

// SrcTask returns the name of the task that sends.
func (k Key) SrcTask() (string, error) { return taskOf(k.Src) }

// DstTask returns the name of the task that receives.
func (k Key) DstTask() (string, error) { return taskOf(k.Dst) }

func taskOf(device string) (string, error) {
	d, err := core.ParseDevice(device)
	return d.TaskName(), err
}

// ParseKey reads a key: exactly five non-empty parts, two of which are devices.
func ParseKey(s string) (Key, error) {
	parts := strings.Split(s, ";")
	if len(parts) != 5 {
		return Key{}, badKey(s)
	}
	k := Key{Src: parts[0], Dst: parts[2], Edge: parts[3]}
	var ok bool
	if k.SrcIncarnation, ok = parseIncarnation(parts[1]); !ok {
		return Key{}, badKey(s)
	}
	if k.Frame, k.Iter, ok = parseFrame(parts[4]); !ok {
		return Key{}, badKey(s)
	}
	if k.Edge == "" || !validDevice(k.Src) || !validDevice(k.Dst) {
		return Key{}, badKey(s)
	}
	return k, nil
}

func badKey(s string) error {
	return core.Errorf(core.InvalidArgument, "Invalid  rendezvous key: %s", s) // two blanks, as in TensorFlow
}

func validDevice(name string) bool {
	_, err := core.ParseDevice(name)
	return err == nil && name != ""
}

// parseIncarnation reads hexadecimal digits; writers give sixteen of them.
func parseIncarnation(s string) (uint64, bool) {
	v, err := strconv.ParseUint(s, 16, 64)
	return v, err == nil
}

func parseFrame(s string) (frame uint64, iter int64, ok bool) {
	f, i, found := strings.Cut(s, ":")
	frame, ferr := strconv.ParseUint(f, 10, 64)
	iter, ierr := strconv.ParseInt(i, 10, 64)
	return frame, iter, found && ferr == nil && ierr == nil
}

// A KeyStem is what the keys of one edge have in common. Send and Recv nodes
// make theirs once, so that outside of loops a transfer formats nothing.
type KeyStem struct {
	stem string // all up to the frame
	root string // the key outside of loops
}

// Stem returns what k has in common with the keys of other frames and iterations.
func (k Key) Stem() KeyStem {
	stem := fmt.Sprintf("%s;%016x;%s;%s;", k.Src, k.SrcIncarnation, k.Dst, k.Edge)
	return KeyStem{stem: stem, root: stem + "0:0"}
}

// Key returns the key for an iteration of a frame.
func (s KeyStem) Key(frame uint64, iter int64) string {
	if frame == 0 && iter == 0 {
		return s.root
	}
	b := make([]byte, 0, len(s.stem)+len("18446744073709551615:-9223372036854775808"))
	b = append(b, s.stem...)
	b = strconv.AppendUint(b, frame, 10)
	b = append(b, ':')
	b = strconv.AppendInt(b, iter, 10)
	return string(b)
}

// endpoints returns the devices in a key without checking the rest of it: all
// that a transfer needs to know, found without allocating. A key that this
// package did not make may have no such parts; then both are empty.
func endpoints(key string) (src, dst string) {
	src, rest, ok := strings.Cut(key, ";")
	if !ok {
		return "", ""
	}
	_, rest, ok = strings.Cut(rest, ";")
	if !ok {
		return "", ""
	}
	dst, _, _ = strings.Cut(rest, ";")
	return src, dst
}
