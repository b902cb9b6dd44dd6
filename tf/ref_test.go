package tf_test

import (
	"errors"
	"sync"
	"testing"

	"github.com/gorge-tf/gorge/tf"
)

func TestRefHoldsATensor(t *testing.T) {
	var r tf.Ref
	if r.Load() != nil || r.Initialized() {
		t.Error("a new variable has a value")
	}
	r.Store(tf.Scalar(int32(1)))
	old := r.Load()
	r.Store(tf.Scalar(int32(2)))
	if tf.Data[int32](old)[0] != 1 || tf.Data[int32](r.Load())[0] != 2 || !r.Initialized() {
		t.Errorf("read %v, then %v", old, r.Load())
	}
}

func TestRefUpdatesInPlaceUnlessRead(t *testing.T) {
	var r tf.Ref
	r.Store(tf.NewTensor(tf.Int32, tf.Shape{1}))
	var first *int32
	add := func(x *tf.Tensor) error {
		if first == nil {
			first = &tf.Data[int32](x)[0]
		}
		tf.Data[int32](x)[0]++
		return nil
	}
	for range 2 {
		if err := r.Update(add); err != nil {
			t.Fatal(err)
		}
	}
	if *first != 2 {
		t.Errorf("memory that nobody reads was copied: %d", *first)
	}
	reader := r.Load()
	if err := r.Update(add); err != nil {
		t.Fatal(err)
	}
	if tf.Data[int32](reader)[0] != 2 || tf.Data[int32](r.Load())[0] != 3 {
		t.Errorf("a reader sees %v, the variable is %v", reader, r.Load())
	}
}

func TestRefUpdateCopiesWhatTheProgramHolds(t *testing.T) {
	data := []int32{5}
	var r tf.Ref
	r.Store(fromSlice(t, data))
	if err := r.Update(func(x *tf.Tensor) error { tf.Data[int32](x)[0] = 6; return nil }); err != nil {
		t.Fatal(err)
	}
	if data[0] != 5 || tf.Data[int32](r.Load())[0] != 6 {
		t.Errorf("the program's slice is %v, the variable %v", data, r.Load())
	}
}

func TestRefErrorsChangeNothing(t *testing.T) {
	var r tf.Ref
	r.Store(tf.Scalar(int32(1)))
	bad := errors.New("bad")
	err := r.Swap(func(*tf.Tensor) (*tf.Tensor, error) { return tf.Scalar(int32(2)), bad })
	if err != bad || tf.Data[int32](r.Load())[0] != 1 {
		t.Errorf("got %v, %v", err, r.Load())
	}
	if err := new(tf.Ref).Update(func(x *tf.Tensor) error {
		if x != nil {
			t.Errorf("an uninitialized variable has %v", x)
		}
		return bad
	}); err != bad {
		t.Errorf("got %v", err)
	}
}

func TestRefIsSafeForManyGoroutines(t *testing.T) {
	var r tf.Ref
	r.Store(tf.NewTensor(tf.Int64, tf.Shape{4}))
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for range 100 {
				if err := r.Update(func(x *tf.Tensor) error {
					for i := range tf.Data[int64](x) {
						tf.Data[int64](x)[i]++
					}
					return nil
				}); err != nil {
					t.Error(err)
				}
				v := r.Load()
				if d := tf.Data[int64](v); d[0] != d[3] {
					t.Errorf("read half an update: %v", d)
				}
				v.Release()
			}
		})
	}
	wg.Wait()
	if got := tf.Data[int64](r.Load())[0]; got != 400 {
		t.Errorf("%d updates arrived of 400", got)
	}
}
