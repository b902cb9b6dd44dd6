package verbs_test

import (
	"bytes"
	"context"
	"fmt"
	"testing"

	"github.com/gorge-tf/gorge/tf/core"
)

// TestWhatComesChanges: several steps at once send under the same key what differs in
// type, shape, size and in being dead, so that what is remembered of the key is wrong
// again and again, and changes between a request and its answer. TensorFlow's
// process ended there with a failed assertion about metadata.
func TestWhatComesChanges(t *testing.T) {
	for _, gen := range []int{1, 2} {
		t.Run(fmt.Sprint(gen), func(t *testing.T) {
			c := newCluster()
			c.config.Generation = gen
			p := c.pair(t)
			const steps, atOnce = 120, 6
			for first := int64(0); first < steps; first += atOnce {
				var all []*step
				var got []chan changing
				for id := first; id < first+atOnce; id++ {
					s := begin(t, p, id)
					ch := make(chan changing, 1)
					s.b.Recv(context.Background(), key("e"), func(v *core.Tensor, dead bool, err error) { ch <- changing{v, dead, err} })
					all, got = append(all, s), append(got, ch)
				}
				for i := range all { // in another order than they were asked for
					id := first + int64((i*5+1)%atOnce)
					v, dead := variety(id)
					if err := all[id-first].a.Send(key("e"), v, dead); err != nil {
						t.Fatal(err)
					}
				}
				for i, ch := range got {
					checkVariety(t, first+int64(i), <-ch)
				}
			}
		})
	}
}

// A changing value is what a receive gives.
type changing struct {
	t    *core.Tensor
	dead bool
	err  error
}

// variety is what a step sends.
func variety(id int64) (v *core.Tensor, dead bool) {
	n := int(id*37) % 9000
	switch id % 5 {
	case 0:
		return nil, true
	case 1:
		return full(n, byte(id)), false
	case 2:
		v = core.NewTensor(core.Float32, core.Shape{n % 50, 2})
	case 3:
		v = core.NewTensor(core.String, core.Shape{1})
		core.Data[string](v)[0] = string(bytes.Repeat([]byte{'a' + byte(id%26)}, n))
		return v, false
	default:
		v = core.NewTensor(core.Int64, core.Shape{})
	}
	for i := range v.Buffer().Bytes() {
		v.Buffer().Bytes()[i] = byte(id)
	}
	return v, false
}

func checkVariety(t *testing.T, id int64, got changing) {
	t.Helper()
	want, dead := variety(id)
	switch {
	case got.err != nil || got.dead != dead:
		t.Errorf("step %d gives %v, dead %v, %v", id, got.t, got.dead, got.err)
		return
	case dead:
		return
	}
	defer got.t.Release()
	same := got.t.DType() == want.DType() && got.t.Shape().Equal(want.Shape())
	if same && want.DType() == core.String {
		same = core.Data[string](got.t)[0] == core.Data[string](want)[0]
	} else if same {
		same = bytes.Equal(got.t.Buffer().Bytes(), want.Buffer().Bytes())
	}
	if !same {
		t.Errorf("step %d gives %v, want %v", id, got.t, want)
	}
}
