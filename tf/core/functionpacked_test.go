package core

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"runtime"
	"sync"
	"testing"

	"google.golang.org/protobuf/proto"

	"github.com/gorge-tf/gorge/tf/pb"
)

// randomFunctions returns functions of random nodes, of which some have large strings.
func randomFunctions(r *rand.Rand) *pb.FunctionDefLibrary {
	l := &pb.FunctionDefLibrary{}
	for i := range 1 + r.IntN(5) {
		f := &pb.FunctionDef{Signature: &pb.OpDef{Name: fmt.Sprintf("packed%d", i)}}
		for k := range r.IntN(30) {
			s := bytes.Repeat([]byte{byte(r.IntN(256))}, r.IntN(2*largeValue)>>r.IntN(16))
			f.NodeDef = append(f.NodeDef, &pb.NodeDef{Name: fmt.Sprintf("n%d", k), Op: "NoOp", Attr: map[string]*pb.AttrValue{
				"s": {Value: &pb.AttrValue_S{S: s}}, "i": {Value: &pb.AttrValue_I{I: r.Int64()}},
			}})
		}
		l.Function = append(l.Function, f)
	}
	return l
}

// TestPack: a library that is packed has the same functions, one by one, as a whole and when others
// are added, also for goroutines that read while it is packed.
func TestPack(t *testing.T) {
	for seed := range uint64(30) {
		want := randomFunctions(rand.New(rand.NewPCG(seed, 1)))
		l, err := (*Library)(nil).Adopt(proto.CloneOf(want))
		if err != nil {
			t.Fatal(err)
		}
		var readers sync.WaitGroup
		for range 3 {
			readers.Go(func() {
				for _, f := range want.Function {
					if got := l.Find(f.Signature.Name); !proto.Equal(got, f) {
						t.Errorf("seed %d: function %s is another one while it is packed", seed, f.Signature.Name)
					}
				}
			})
		}
		l.Pack()
		readers.Wait()
		runtime.GC() // what was decoded goes
		more, err := l.With(&pb.FunctionDef{Signature: &pb.OpDef{Name: "another"}})
		if err != nil {
			t.Fatal(err)
		}
		more.Pack()
		if all := more.Proto(); len(all.Function) != len(want.Function)+1 || !proto.Equal(&pb.FunctionDefLibrary{Function: all.Function[:len(want.Function)]}, want) {
			t.Errorf("seed %d: the packed library with another function is %v", seed, all)
		}
		if _, err := l.Merge(want); err != nil {
			t.Errorf("seed %d: the same functions again: %v", seed, err)
		}
		for _, f := range want.Function {
			if packed := l.funcs[f.Signature.Name].def == nil; packed == hasLarge(f) {
				t.Errorf("seed %d: function %s of large strings %v is packed: %v", seed, f.Signature.Name, hasLarge(f), packed)
			}
		}
	}
}

// TestPackLive: functions that a program may change stay as they are.
func TestPackLive(t *testing.T) {
	l, err := NewLibrary(randomFunctions(rand.New(rand.NewPCG(1, 1))))
	if err != nil {
		t.Fatal(err)
	}
	l.Pack()
	l.Proto().Function[0].Signature.Description = "changed"
	if got := l.Find("packed0").Signature.Description; got != "changed" {
		t.Errorf("the function is not the one that Proto returned: its description is %q", got)
	}
}
