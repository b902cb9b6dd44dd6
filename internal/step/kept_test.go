package step

import (
	"testing"

	"github.com/gorge-tf/gorge/tf/core"
)

// A feed that is the handle of a tensor stands for it; others are what they are.
func TestFed(t *testing.T) {
	k := &Kept{}
	handle, err := k.Add(1, "h", "/cpu:0", core.Scalar(float32(7)))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := k.Add(1, "h", "/cpu:0", core.Scalar(float32(8))); core.CodeOf(err) != core.InvalidArgument {
		t.Errorf("keeping twice in a step gives %v", err)
	}
	k.End(1, []string{"h:0"}, true)
	of := func(container, name string) *core.Tensor {
		return core.HandleTensor(core.ResourceHandle{Container: container, Name: name})
	}
	if got, err := k.Fed(of("TensorHandle", handle)); err != nil || got.At(0) != float32(7) {
		t.Errorf("a handle is fed as %v, %v", got, err)
	}
	if _, err := k.Fed(of("TensorHandle", "nothing")); core.CodeOf(err) != core.InvalidArgument {
		t.Errorf("a handle of nothing is fed as %v", err)
	}
	for _, plain := range []*core.Tensor{core.Scalar(int32(1)), of("another", handle)} {
		if got, err := k.Fed(plain); err != nil || got != plain {
			t.Errorf("%v is fed as %v, %v", plain, got, err)
		}
	}
}

// What a step that fails has kept goes with it.
func TestFailedStepsKeepNothing(t *testing.T) {
	k := &Kept{}
	handle, err := k.Add(1, "h", "/cpu:0", core.Scalar(float32(7)))
	if err != nil {
		t.Fatal(err)
	}
	k.End(1, []string{"h:0"}, false)
	if _, err := k.Get(handle); core.CodeOf(err) != core.InvalidArgument || k.Pending() {
		t.Errorf("a failed step has kept something: %v", err)
	}
}
