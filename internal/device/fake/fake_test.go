package fake_test

import (
	"context"
	"strings"
	"testing"

	"github.com/gorge-tf/gorge/internal/device"
	"github.com/gorge-tf/gorge/internal/device/fake"
	"github.com/gorge-tf/gorge/internal/direct"
	"github.com/gorge-tf/gorge/internal/pass"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/session"
	"github.com/gorge-tf/gorge/tf/tftest"
	"github.com/gorge-tf/gorge/tf/train"
)

const onFake = "/device:FAKE:0"

func newDevice() *fake.Device {
	return fake.New(core.DeviceSpec{Job: "localhost", Type: fake.Type})
}

func vector(t *testing.T, v ...float32) *core.Tensor {
	t.Helper()
	x, err := core.FromSlice(v)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

func TestCopiesAreCounted(t *testing.T) {
	d := newDevice()
	host := vector(t, 1, 2, 3)
	there, err := d.FromHost(host)
	if err != nil {
		t.Fatal(err)
	}
	if there.Addressable() || there.DType() != core.Float32 || !there.Shape().Equal(core.Shape{3}) || there.NumBytes() != 12 {
		t.Errorf("on the device: %v, %d bytes, addressable %v", there, there.NumBytes(), there.Addressable())
	}
	back, err := d.ToHost(there)
	if err != nil {
		t.Fatal(err)
	}
	tftest.Equal(t, (*tf.Tensor)(back), (*tf.Tensor)(host))
	if &core.Data[float32](back)[0] == &core.Data[float32](host)[0] {
		t.Error("what comes back is no copy")
	}
	want := fake.Crossings{Tensors: 1, Bytes: 12}
	if d.FromHostCount() != want || d.ToHostCount() != want {
		t.Errorf("counted %v and %v, want %v each", d.FromHostCount(), d.ToHostCount(), want)
	}
}

func TestObjectsStayTheHosts(t *testing.T) {
	d := newDevice()
	s := core.Scalar("text")
	there, err := d.FromHost(s)
	if err != nil {
		t.Fatal(err)
	}
	back, err := d.ToHost(there)
	if err != nil {
		t.Fatal(err)
	}
	tftest.Equal(t, (*tf.Tensor)(back), (*tf.Tensor)(s))
	if d.FromHostCount().Tensors != 0 || d.ToHostCount().Tensors != 0 {
		t.Error("a string was counted as copied")
	}
}

func TestHostCannotReadElements(t *testing.T) {
	there, err := newDevice().FromHost(vector(t, 1))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := core.Values[float32](there); err == nil || !strings.Contains(err.Error(), `memory space "FAKE"`) {
		t.Errorf("Values: %v", err)
	}
	defer func() {
		if p, ok := recover().(string); !ok || !strings.Contains(p, "the host cannot address") || !strings.Contains(p, "FAKE") {
			t.Errorf("Data panicked with %q", p)
		}
	}()
	_ = core.Data[float32](there)
	t.Error("Data returned the elements")
}

func TestMemoryMustBeTheDevices(t *testing.T) {
	d := newDevice()
	there, err := d.FromHost(vector(t, 1))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := d.FromHost(there); core.CodeOf(err) != core.Internal {
		t.Errorf("FromHost of a tensor that is there: %v", err)
	}
	if _, err := d.ToHost(vector(t, 1)); core.CodeOf(err) != core.Internal {
		t.Errorf("ToHost of a host tensor: %v", err)
	}
}

// model is a network of two layers and a step that trains it.
type model struct {
	g          *tf.Graph
	x, y, loss tf.Output
	step       *tf.Operation
	vars       []*tf.Variable
}

// newModel builds a network whose second layer, with its variables, is on the
// given device.
func newModel(t *testing.T, second string) *model {
	t.Helper()
	m := &model{g: tf.NewGraph()}
	m.g.SetSeed(7)
	m.x = ops.Placeholder(m.g, core.Float32, core.Shape{-1, 6})
	m.y = ops.Placeholder(m.g, core.Float32, core.Shape{-1, 2})
	h := ops.Relu(m.layer("first", m.x, 6, 5))
	m.g.Device(second, func() {
		out := m.layer("second", h, 5, 2)
		d := ops.Sub(out, m.y)
		m.loss = ops.Mean(ops.Mul(d, d), ops.Const(m.g, []int32{0, 1}, 2))
	})
	m.step = train.Adam{LearningRate: 0.05}.Minimize(m.loss)
	if err := m.g.Err(); err != nil {
		t.Fatal(err)
	}
	return m
}

func (m *model) layer(name string, x tf.Output, in, out int) tf.Output {
	w := make([]float32, in*out)
	for i := range w {
		w[i] = float32(i%7)/7 - 0.4
	}
	weights := tf.NewVariable(ops.Const(m.g, w, in, out), tf.VariableOptions{Name: name + "/w"})
	bias := tf.NewVariable(ops.Const(m.g, make([]float32, out), out), tf.VariableOptions{Name: name + "/b"})
	m.vars = append(m.vars, weights, bias)
	return ops.BiasAdd(ops.MatMul(x, weights.Value()), bias.Value())
}

// train returns the losses of some steps, and the variables in the end.
func (m *model) train(t *testing.T, s *session.Session) (losses []float32, vars []*core.Tensor) {
	t.Helper()
	ctx := context.Background()
	if _, err := s.Run(ctx, nil, tf.InitializeAll(m.g)); err != nil {
		t.Fatal(err)
	}
	feeds := session.Feeds{m.x: (*tf.Tensor)(ramp(t, 4, 6)), m.y: (*tf.Tensor)(ramp(t, 4, 2))}
	for range 8 {
		loss, err := session.Fetch[float32](ctx, s, feeds, m.loss, m.step)
		if err != nil {
			t.Fatal(err)
		}
		losses = append(losses, loss...)
	}
	for _, v := range m.vars {
		got, err := s.Run(ctx, nil, v.Value())
		if err != nil {
			t.Fatal(err)
		}
		vars = append(vars, (*core.Tensor)(got[0]))
	}
	return losses, vars
}

func ramp(t *testing.T, rows, cols int) *core.Tensor {
	t.Helper()
	v := make([]float32, rows*cols)
	for i := range v {
		v[i] = float32(i*i%11)/11 - 0.3
	}
	x, err := core.FromSlice(v, rows, cols)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

func newSession(t *testing.T, g *tf.Graph, opts ...session.Option) *session.Session {
	t.Helper()
	s, err := session.New(g, opts...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func TestTrainingAcrossDevicesGivesEqualBits(t *testing.T) {
	cpu := newModel(t, "/device:CPU:0")
	wantLoss, wantVars := cpu.train(t, newSession(t, cpu.g))
	both := newModel(t, onFake)
	gotLoss, gotVars := both.train(t, newSession(t, both.g, session.Devices(fake.Type, 1)))
	for i := range wantLoss {
		if gotLoss[i] != wantLoss[i] {
			t.Errorf("step %d: loss %v across devices, %v on the CPU", i, gotLoss[i], wantLoss[i])
		}
	}
	if wantLoss[len(wantLoss)-1] >= wantLoss[0]/2 {
		t.Errorf("the loss does not fall: %v", wantLoss)
	}
	for i := range wantVars {
		tftest.Equal(t, (*tf.Tensor)(gotVars[i]), (*tf.Tensor)(wantVars[i]), tftest.SignedZeros())
	}
}

// devices returns a CPU and a FAKE device, whose counters a test can read.
func devices() (*device.Set, *fake.Device) {
	d := newDevice()
	return device.NewSet(device.NewCPU(core.DeviceSpec{Job: "localhost", Type: "CPU"}), d), d
}

func TestEveryCrossingIsACopy(t *testing.T) {
	g := tf.NewGraph()
	x := ops.Placeholder(g, core.Float32, core.Shape{3})
	var y tf.Output
	g.Device(onFake, func() { y = ops.Mul(ops.Neg(x), ops.Const(g, []float32{2, 3, 4}, 3)) })
	z := ops.Neg(y)
	if err := g.Err(); err != nil {
		t.Fatal(err)
	}
	set, d := devices()
	s := direct.New(g, direct.Config{Devices: set})
	defer s.Close()
	for range 2 {
		got, err := s.Run(context.Background(), pass.Signature{Feeds: []string{x.Name()}, Fetches: []string{z.Name()}}, []*core.Tensor{vector(t, 1, 2, 3)})
		if err != nil {
			t.Fatal(err)
		}
		tftest.Elements(t, (*tf.Tensor)(got[0]), []float32{2, 6, 12})
	}
	// Each step x goes there, and so does the constant, and y comes back.
	if in, out := d.FromHostCount(), d.ToHostCount(); in != (fake.Crossings{Tensors: 4, Bytes: 48}) || out != (fake.Crossings{Tensors: 2, Bytes: 24}) {
		t.Errorf("copied %v to the device and %v from it", in, out)
	}
}
