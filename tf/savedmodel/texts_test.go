package savedmodel

import (
	"bytes"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"unsafe"

	"google.golang.org/protobuf/proto"

	"github.com/gorge-tf/gorge/internal/memory"
	"github.com/gorge-tf/gorge/tf/pb"
)

// TestTextsAreReadOnce: strings are what was written, whatever they have in common, and
// equal ones share memory. Those that are cut off are errors.
func TestTextsAreReadOnce(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	base := make([]byte, 3*textChunk+5)
	for i := range base {
		base[i] = byte(rng.Uint32())
	}
	sizes := []int{1, textChunk - 1, textChunk, textChunk + 1, 2 * textChunk, 3*textChunk + 5}
	all, first := &texts{}, map[string]*byte{}
	for range 300 {
		b := bytes.Clone(base[:sizes[rng.IntN(len(sizes))]])
		if rng.IntN(2) == 0 {
			b[rng.IntN(min(len(b), 3))*(len(b)-1)/2] ^= byte(rng.IntN(3))
		}
		if n := rng.IntN(len(b)); rng.IntN(5) == 0 {
			if _, err := (&texts{all: all.all}).read(bytes.NewReader(b[:n]), len(b)); err == nil {
				t.Fatalf("%d bytes were read of %d", len(b), n)
			}
			continue
		}
		got, err := all.read(bytes.NewReader(append(b, "rest"...)), len(b))
		if err != nil || !bytes.Equal(got, b) {
			t.Fatalf("%d bytes came back differently, %v", len(b), err)
		}
		if p, ok := first[string(b)]; ok && p != unsafe.SliceData(got) {
			t.Fatalf("a string of %d bytes is in memory twice", len(b))
		}
		first[string(b)] = unsafe.SliceData(got)
	}
}

// TestSharingIsPrivate: only the message that Load reads shares memory. One that a program
// has read may be changed.
func TestSharingIsPrivate(t *testing.T) {
	large := bytes.Repeat([]byte("gorge"), largeField)
	node := func(name string) *pb.NodeDef {
		return &pb.NodeDef{Name: name, Attr: map[string]*pb.AttrValue{"module": {Value: &pb.AttrValue_S{S: large}}}}
	}
	data, err := proto.Marshal(&pb.SavedModel{MetaGraphs: []*pb.MetaGraphDef{{GraphDef: &pb.GraphDef{Library: &pb.FunctionDefLibrary{
		Function: []*pb.FunctionDef{{NodeDef: []*pb.NodeDef{node("a")}}, {NodeDef: []*pb.NodeDef{node("b")}}}}}}}})
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, binaryFile), data, 0o600); err != nil {
		t.Fatal(err)
	}
	strings := func(m *pb.SavedModel) [2][]byte {
		f := m.GetMetaGraphs()[0].GetGraphDef().GetLibrary().GetFunction()
		return [2][]byte{f[0].GetNodeDef()[0].GetAttr()["module"].GetS(), f[1].GetNodeDef()[0].GetAttr()["module"].GetS()}
	}
	theirs, err := Read(dir)
	if err != nil {
		t.Fatal(err)
	}
	if s := strings(theirs); &s[0][0] == &s[1][0] || memory.Frozen(s[0]) || memory.Frozen(s[1]) {
		t.Error("strings of a program's message share memory")
	}
	ours, err := read(dir, readSharing)
	if err != nil {
		t.Fatal(err)
	}
	if s := strings(ours); &s[0][0] != &s[1][0] || !memory.Frozen(s[0]) {
		t.Error("equal strings of Load's message share no memory")
	}
	if !proto.Equal(ours, theirs) {
		t.Error("the messages differ")
	}
}
