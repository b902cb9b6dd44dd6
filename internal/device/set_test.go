package device

import (
	"slices"
	"strings"
	"testing"

	"github.com/gorge-tf/gorge/tf/core"
)

func names(s *Set) []string {
	var out []string
	for _, d := range s.List() {
		out = append(out, d.Spec().String())
	}
	return out
}

func TestMake(t *testing.T) {
	const task = "/job:w/replica:0/task:3"
	for _, c := range []struct {
		count map[string]int
		want  []string
	}{
		{nil, []string{"/device:CPU:0"}},
		{map[string]int{"CPU": 2}, []string{"/device:CPU:0", "/device:CPU:1"}},
		{map[string]int{"TEST": 2, "CPU": 1}, []string{"/device:CPU:0", "/device:TEST:0", "/device:TEST:1"}},
	} {
		s, err := Make("w", 3, c.count)
		if err != nil {
			t.Fatal(err)
		}
		for i := range c.want {
			c.want[i] = task + c.want[i]
		}
		if got := names(s); !slices.Equal(got, c.want) {
			t.Errorf("%v: got %v, want %v", c.count, got, c.want)
		}
		if s.Client() != s.List()[0] || s.Lookup(c.want[0]) != s.Client() || s.Lookup("/job:other") != nil {
			t.Errorf("%v: the client device is %v", c.count, s.Client().Spec())
		}
	}
}

func init() {
	RegisterMaker("TEST", func(spec core.DeviceSpec) (core.Device, error) { return NewCPU(spec), nil })
	RegisterMaker("BROKEN", func(core.DeviceSpec) (core.Device, error) { return nil, core.Errorf(core.Unavailable, "no such card") })
}

func TestMakeFails(t *testing.T) {
	for text, count := range map[string]map[string]int{
		`must be one that the program has: BROKEN, CPU, TEST, got "TPU"`: {"TPU": 1},
		`must be 1 or more, got 0 of type "CPU"`:                         {"CPU": 0},
		`must not be negative`:                                           {"TEST": -1},
	} {
		if _, err := Make("w", 0, count); core.CodeOf(err) != core.InvalidArgument || !strings.Contains(err.Error(), text) {
			t.Errorf("got %v, want %s", err, text)
		}
	}
	if _, err := Make("w", 0, map[string]int{"BROKEN": 1}); core.CodeOf(err) != core.Unavailable {
		t.Errorf("got %v", err)
	}
	defer func() {
		if p, _ := recover().(string); p != "device: type CPU registered twice" {
			t.Errorf("panicked with %q", p)
		}
	}()
	RegisterMaker("CPU", nil)
}

func TestCPUsShareTheHostsMemory(t *testing.T) {
	s := CPUs("w", 0, 2)
	a, b := s.List()[0], s.List()[1]
	x := core.Scalar(int32(1))
	for _, move := range []func(*core.Tensor) (*core.Tensor, error){a.FromHost, a.ToHost} {
		if y, err := move(x); y != x || err != nil {
			t.Errorf("got %v, %v", y, err)
		}
	}
	if a.Resources() == b.Resources() || a.Incarnation() == b.Incarnation() || a.Incarnation() == 0 {
		t.Error("two devices share resources or incarnation")
	}
	if a.(*CPU).Name() != "/job:w/replica:0/task:0/device:CPU:0" || a.MemoryLimit() != 256<<20 {
		t.Errorf("got %q, %d", a.(*CPU).Name(), a.MemoryLimit())
	}
}
