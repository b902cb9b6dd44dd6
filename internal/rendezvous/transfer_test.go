package rendezvous

import (
	"testing"

	"github.com/gorge-tf/gorge/internal/device"
	"github.com/gorge-tf/gorge/internal/memory"
	"github.com/gorge-tf/gorge/internal/resource"
	"github.com/gorge-tf/gorge/tf/core"
)

// A fake device keeps its tensors where the host cannot read them.
type fake struct {
	spec core.DeviceSpec
	fail error
}

func (d *fake) Spec() core.DeviceSpec        { return d.spec }
func (d *fake) Incarnation() uint64          { return 9 }
func (d *fake) MemoryLimit() int64           { return 0 }
func (d *fake) Resources() *resource.Manager { return nil }

func (d *fake) FromHost(t *core.Tensor) (*core.Tensor, error) {
	if d.fail != nil {
		return nil, d.fail
	}
	copied := append([]byte(nil), t.Buffer().Bytes()...)
	return core.TensorOf(t.DType(), t.Shape(), memory.NewOpaque(d.spec.String(), copied, len(copied))), nil
}

func (d *fake) ToHost(t *core.Tensor) (*core.Tensor, error) {
	if d.fail != nil {
		return nil, d.fail
	}
	buf := memory.New(t.NumBytes())
	copy(buf.Bytes(), t.Buffer().Handle().([]byte))
	return core.TensorOf(t.DType(), t.Shape(), buf), nil
}

var _ Devices = (*device.Set)(nil)

// deviceMap is a lookup of devices by name; a test's CPU needs no entry.
type deviceMap map[string]core.Device

func (m deviceMap) Lookup(name string) core.Device { return m[name] }

const fake0, fake1 = worker0 + "/device:FAKE:0", worker0 + "/device:FAKE:1"

func fakes(fail error) deviceMap {
	m := deviceMap{}
	for _, name := range []string{fake0, fake1} {
		spec, err := core.ParseDevice(name)
		if err != nil {
			panic(err)
		}
		m[name] = &fake{spec, fail}
	}
	return m
}

// TestTransfer sends a number between all kinds of devices and back.
func TestTransfer(t *testing.T) {
	devices := fakes(nil)
	for _, src := range []string{cpu0, fake0} {
		for _, dst := range []string{cpu0, fake0, fake1, cpu1} {
			v := onDevice(t, devices, src, 42)
			l := NewLocal(devices)
			key := Key{Src: src, Dst: dst, Edge: "e"}.String()
			if err := l.Send(key, v, false); err != nil {
				t.Fatal(err)
			}
			a := now(t, recv(background, l, key))
			if a.err != nil {
				t.Fatalf("%s to %s: %v", src, dst, a.err)
			}
			wantSpace := ""
			if devices[dst] != nil {
				wantSpace = dst
			}
			if got := a.t.Buffer().Space(); got != wantSpace {
				t.Errorf("%s to %s: arrives in space %q, want %q", src, dst, got, wantSpace)
			}
			if src == dst && a.t.Buffer() != v.Buffer() {
				t.Errorf("%s to itself: copied", src)
			}
			if got := onHost(t, devices, dst, a.t); got != int64(42) {
				t.Errorf("%s to %s: arrives as %v, want 42", src, dst, got)
			}
		}
	}
}

func onDevice(t *testing.T, devices deviceMap, name string, v int64) *core.Tensor {
	t.Helper()
	x := core.Scalar(v)
	if d := devices[name]; d != nil {
		y, err := d.FromHost(x)
		if err != nil {
			t.Fatal(err)
		}
		return y
	}
	return x
}

func onHost(t *testing.T, devices deviceMap, name string, x *core.Tensor) any {
	t.Helper()
	if d := devices[name]; d != nil {
		y, err := d.ToHost(x)
		if err != nil {
			t.Fatal(err)
		}
		return y.At(0)
	}
	return x.At(0)
}

func TestTransferSharedMemoryIsNotCopied(t *testing.T) {
	l := NewLocal(deviceMap{})
	v := core.Scalar(int64(1))
	key := Key{Src: cpu0, Dst: worker0 + "/device:CPU:1", Edge: "e"}.String()
	if err := l.Send(key, v, false); err != nil {
		t.Fatal(err)
	}
	if a := now(t, recv(background, l, key)); a.t.Buffer() != v.Buffer() {
		t.Error("a value between devices of the host's memory is copied")
	}
}

func TestTransferFails(t *testing.T) {
	l := NewLocal(fakes(core.Errorf(core.Internal, "copy engine lost")))
	key := Key{Src: cpu0, Dst: fake0, Edge: "e"}.String()
	v, freed := counted()
	if err := l.Send(key, v, false); err != nil {
		t.Fatal(err)
	}
	v.Release()
	if a := now(t, recv(background, l, key)); core.CodeOf(a.err) != core.Internal || a.t != nil {
		t.Errorf("receive whose copy fails = %+v, want its error", a)
	}
	if *freed != 1 {
		t.Errorf("source given back %d times, want 1", *freed)
	}
	if err := l.Send(key, nil, true); err != nil {
		t.Fatal(err)
	}
	if a := now(t, recv(background, l, key)); a.err != nil || !a.dead {
		t.Errorf("a dead value needs no copy, got %+v", a)
	}
}
