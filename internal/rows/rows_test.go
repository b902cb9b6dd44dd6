package rows

import (
	"reflect"
	"testing"

	"github.com/gorge-tf/gorge/tf/core"
)

func moved[T core.Elem](t *testing.T, a, b, c T) {
	t.Helper()
	src, err := core.FromSlice([]T{a, b, c})
	if err != nil {
		t.Fatal(err)
	}
	dst := core.NewTensor(src.DType(), core.Shape{6})
	m := Mover(dst, src)
	m(0, 1, 2)
	m(2, 0, 1)
	Fill(dst, src, 3, 2, 3)
	if want := []T{b, c, a, c, c, c}; !reflect.DeepEqual(core.Data[T](dst), want) {
		t.Errorf("%v: got %v, want %v", src.DType(), dst, want)
	}
	again := core.NewTensor(src.DType(), core.Shape{6})
	Copy(again, src, 0, 1, 2)
	Copy(again, src, 2, 0, 1)
	Copy(again, dst, 3, 3, 3)
	if !reflect.DeepEqual(core.Data[T](again), core.Data[T](dst)) {
		t.Errorf("%v: copied %v, want %v", src.DType(), again, dst)
	}
	Clear(dst)
	if !reflect.DeepEqual(core.Data[T](dst), make([]T, 6)) {
		t.Errorf("%v: %v is not clear", src.DType(), dst)
	}
}

func TestMove(t *testing.T) {
	moved[int8](t, 1, -2, 3)
	moved[uint16](t, 1, 2, 3)
	moved[float32](t, 1, 2.5, 3)
	moved[int64](t, 1, -2, 1<<40)
	moved(t, 1i, 2+1i, complex128(3))
	moved(t, "a", "", "c")
	moved(t, true, false, true)
}

func TestMoveObjects(t *testing.T) {
	src, dst := core.NewTensor(core.Variant, core.Shape{2}), core.NewTensor(core.Variant, core.Shape{3})
	src.Variants()[1].Value = "one"
	Fill(dst, src, 1, 1, 2)
	Fill(dst, src, 0, 1, 0)
	if v := dst.Variants(); v[0].Value != nil || v[2].Value != "one" {
		t.Errorf("got %v", v)
	}
	handles := core.NewTensor(core.Resource, core.Shape{2})
	Mover(handles, core.HandleTensor(core.ResourceHandle{Name: "r"}))(1, 0, 1)
	if h := handles.Handles(); h[0].Name != "" || h[1].Name != "r" {
		t.Errorf("got %v", h)
	}
	Copy(handles, handles, 0, 1, 1)
	Copy(dst, src, 0, 1, 1)
	if handles.Handles()[0].Name != "r" || dst.Variants()[0].Value != "one" {
		t.Error("objects are not copied")
	}
	Clear(handles)
	Clear(dst)
	if handles.Handles()[0].Name != "" || handles.Handles()[1].Name != "" || dst.Variants()[1].Value != nil {
		t.Error("objects are not cleared")
	}
}

func TestMoveNothing(t *testing.T) {
	empty := core.NewTensor(core.Float32, core.Shape{0})
	Mover(empty, empty)(0, 0, 0)
	Copy(empty, empty, 0, 0, 0)
	Clear(empty)
}
