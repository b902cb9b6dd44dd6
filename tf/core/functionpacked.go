package core

import (
	"bytes"
	"sync"
	"weak"

	"google.golang.org/protobuf/proto"

	"github.com/gorge-tf/gorge/internal/memory"
	"github.com/gorge-tf/gorge/internal/wire/snappy"
	"github.com/gorge-tf/gorge/tf/pb"
)

// A function is one of a library, as a message or encoded and compressed: a message takes ten
// times as much memory and more.
type function struct {
	mu      sync.Mutex
	def     *pb.FunctionDef              // nil: it is encoded
	encoded []byte                       // of a function that is
	last    weak.Pointer[pb.FunctionDef] // what encoded was decoded to, as long as that is in use
}

// message returns the function as a message.
func (f *function) message() *pb.FunctionDef {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.def != nil {
		return f.def
	}
	if d := f.last.Value(); d != nil {
		return d
	}
	d := &pb.FunctionDef{}
	b, err := snappy.Decode(f.encoded)
	if err == nil {
		err = proto.Unmarshal(b, d)
	}
	if err != nil {
		panic(err) // pack has encoded it
	}
	f.last = weak.Make(d)
	return d
}

// pack encodes the function. One with large values stays as it is: nodes share these.
func (f *function) pack() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.def == nil || hasLarge(f.def) {
		return
	}
	if b, err := proto.Marshal(f.def); err == nil {
		f.encoded, f.def = bytes.Clone(snappy.Encode(nil, b)), nil
	}
}

// Pack encodes the functions of l, which take less memory so. It is for programs that are
// not going to read many of them again: each is decoded when it is asked for. Functions that
// a program may change, since Proto returns them, stay as they are.
func (l *Library) Pack() {
	if l == nil || !l.frozen {
		return
	}
	for _, f := range l.list {
		f.pack()
	}
}

// largeValue is the size from which on the value of an attribute is large.
const largeValue = 64 << 10

// hasLarge reports whether a node of a function has a large string or tensor.
func hasLarge(f *pb.FunctionDef) bool {
	return hasAttr(f, func(v *pb.AttrValue) bool {
		return len(v.GetS()) >= largeValue || v.GetTensor() != nil && proto.Size(v.GetTensor()) >= largeValue
	})
}

// hasFrozen reports whether a function has strings that must not change.
func hasFrozen(f *pb.FunctionDef) bool {
	return hasAttr(f, func(v *pb.AttrValue) bool { return memory.Frozen(v.GetS()) })
}

// hasAttr reports whether a node of a function has an attribute of some kind.
func hasAttr(f *pb.FunctionDef, is func(*pb.AttrValue) bool) bool {
	for _, n := range f.GetNodeDef() {
		for _, v := range n.GetAttr() {
			if is(v) {
				return true
			}
		}
	}
	return false
}
