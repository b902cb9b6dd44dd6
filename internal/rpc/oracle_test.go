package rpc

import (
	"bufio"
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/gorge-tf/gorge/internal/rendezvous"
	"github.com/gorge-tf/gorge/internal/rendezvous/rendezvoustest"
	"github.com/gorge-tf/gorge/internal/requestid"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/pb"
)

// python returns the interpreter that has TensorFlow.
func python(t *testing.T) string {
	t.Helper()
	p := os.Getenv("GORGE_TF_PYTHON")
	if p == "" {
		t.Skip("GORGE_TF_PYTHON names no Python with TensorFlow 2.21")
	}
	return p
}

// samples lists tensors of all types that TensorFlow's workers exchange.
func samples(t *testing.T) []*core.Tensor {
	t.Helper()
	out := []*core.Tensor{
		core.Scalar("scalar"), must(t, []string{"a", "\xff\x00", "", strings.Repeat("long", 1000)}, 2, 2), must(t, []string{}),
		random(core.Float32, core.Shape{1000, 2000}),
	}
	for d := core.DType(1); d < 100; d++ {
		if d.Size() > 0 && d != core.Int4 && d != core.Uint4 { // a 4-bit number fills a byte, of which arbitrary bits do not survive
			out = append(out, random(d, core.Shape{2, 3}), random(d, core.Shape{}), random(d, core.Shape{3, 0}), random(d, core.Shape{1025}))
		}
	}
	return out
}

// TestOracleParses has TensorFlow's parser read what encode writes.
func TestOracleParses(t *testing.T) {
	interpreter := python(t)
	var in bytes.Buffer
	var want []string
	for i, v := range samples(t) {
		in.WriteString(hex.EncodeToString(encoded(t, &TensorResponse{Tensor: v.Share(), SendStart: int64(i), RequireAck: i%2 == 0})) + "\n")
		want = append(want, fmt.Sprintf("0 %d %d %s", i, (i+1)%2, describe(v)))
	}
	cmd := exec.Command(interpreter, "testdata/parse.py")
	cmd.Stdin = &in
	out, err := cmd.Output()
	if err != nil {
		var e *exec.ExitError
		errors.As(err, &e)
		t.Fatalf("parse.py: %v\n%s", err, e.Stderr)
	}
	got := strings.Split(strings.TrimSpace(string(out)), "\n")
	if len(got) != len(want) {
		t.Fatalf("%d messages are read, want %d", len(got), len(want))
	}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("message %d is read as %.200s, want %.200s", i, got[i], want[i])
		}
	}
}

// describe writes a tensor as parse.py does.
func describe(v *core.Tensor) string {
	shape := strings.Trim(strings.ReplaceAll(fmt.Sprint([]int(v.Shape())), " ", "x"), "[]")
	var elements []byte
	if v.DType() == core.String {
		elements = []byte(strings.Join(core.Data[string](v), "|"))
	} else {
		elements = v.Buffer().Bytes()
	}
	return fmt.Sprintf("%v %s %s", v.DType(), orDash(shape), orDash(hex.EncodeToString(elements)))
}

func orDash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}

// A foreign worker is TensorFlow's own server as task 0, this test being task 1
// of its cluster.
type foreign struct {
	*WorkerClient
	here        rendezvoustest.Peer // task 1
	device      string              // of task 0
	incarnation uint64
}

const ourDevice, ourIncarnation = rendezvoustest.TaskB + "/device:CPU:0", 42

func startForeign(t *testing.T) *foreign {
	t.Helper()
	steps := rendezvous.NewManager(0)
	addr := startServer(t, python(t), serve(t, ServerConfig{}, withWorker(sender{steps: steps})))
	channels := NewChannels(func(string) (string, error) { return addr, nil }, DialConfig{})
	t.Cleanup(func() {
		if err := channels.Close(); err != nil {
			t.Error(err)
		}
	})
	w, err := channels.Worker(rendezvoustest.TaskA)
	if err != nil {
		t.Fatal(err)
	}
	f := &foreign{WorkerClient: w, here: rendezvoustest.Peer{Manager: steps, Session: &rendezvous.Session{
		Task: rendezvoustest.TaskB, Transport: NewTransport(channels, 0)}}}
	f.openSession(t)
	return f
}

// startServer runs worker.py and returns the address it serves.
func startServer(t *testing.T, python, ours string) string {
	t.Helper()
	cmd := exec.Command(python, "testdata/worker.py", ours)
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		stdin.Close()
		if err := cmd.Wait(); err != nil {
			t.Error(err)
		}
	})
	for s := bufio.NewScanner(stdout); s.Scan(); {
		if addr, ok := strings.CutPrefix(s.Text(), "target grpc://"); ok {
			return addr
		}
	}
	t.Fatal("worker.py ended before it served")
	return ""
}

func (f *foreign) openSession(t *testing.T) {
	t.Helper()
	ctx := context.Background()
	st, err := f.GetStatus(ctx, &pb.GetStatusRequest{})
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range st.GetDeviceAttributes() {
		if d.GetDeviceType() == "CPU" {
			f.device, f.incarnation = d.GetName(), d.GetIncarnation()
		}
	}
	_, err = f.CreateWorkerSession(ctx, &pb.CreateWorkerSessionRequest{
		SessionHandle: "h", ServerDef: &pb.ServerDef{Protocol: "grpc", JobName: "worker", TaskIndex: 0},
		MasterTask: rendezvoustest.TaskB, MasterIncarnation: ourIncarnation})
	if err != nil {
		t.Fatal(err)
	}
}

// in and out are the keys of the two halves of edge i.
func (f *foreign) in(i int) string {
	return rendezvous.Key{Src: ourDevice, SrcIncarnation: ourIncarnation, Dst: f.device, Edge: fmt.Sprint("in", i)}.String()
}

func (f *foreign) out(i int) string {
	return rendezvous.Key{Src: f.device, SrcIncarnation: f.incarnation, Dst: ourDevice, Edge: fmt.Sprint("out", i)}.String()
}

// echoGraph receives a value for each type and sends it back.
func (f *foreign) echoGraph(types []core.DType) *pb.GraphDef {
	g := &pb.GraphDef{Versions: &pb.VersionDef{Producer: core.ProducerVersion}}
	for i, d := range types {
		recv := fmt.Sprint("recv", i)
		g.Node = append(g.Node,
			f.node(recv, "_Recv", "tensor_type", d, fmt.Sprint("in", i), ourDevice, ourIncarnation, f.device),
			f.node(fmt.Sprint("send", i), "_Send", "T", d, fmt.Sprint("out", i), f.device, f.incarnation, ourDevice, recv))
	}
	return g
}

func (f *foreign) node(name, op, typeAttr string, d core.DType, edge, src string, incarnation uint64, dst string, inputs ...string) *pb.NodeDef {
	str := func(s string) *pb.AttrValue { return &pb.AttrValue{Value: &pb.AttrValue_S{S: []byte(s)}} }
	return &pb.NodeDef{Name: name, Op: op, Device: f.device, Input: inputs, Attr: map[string]*pb.AttrValue{
		typeAttr:                  {Value: &pb.AttrValue_Type{Type: pb.DataType(d)}},
		"tensor_name":             str(edge),
		"send_device":             str(src),
		"send_device_incarnation": {Value: &pb.AttrValue_I{I: int64(incarnation)}},
		"recv_device":             str(dst),
		"client_terminated":       {Value: &pb.AttrValue_B{B: false}},
	}}
}

func (f *foreign) register(t *testing.T, g *pb.GraphDef) string {
	t.Helper()
	resp, err := f.RegisterGraph(context.Background(), &pb.RegisterGraphRequest{SessionHandle: "h", CreateWorkerSessionCalled: true, GraphDef: g})
	if err != nil {
		t.Fatal(err)
	}
	return resp.GetGraphHandle()
}

// run begins a step of the foreign worker.
func (f *foreign) run(handle string, step int64) <-chan error {
	c := make(chan error, 1)
	go func() {
		_, err := f.RunGraph(context.Background(), &pb.RunGraphRequest{
			SessionHandle: "h", CreateWorkerSessionCalled: true, GraphHandle: handle, StepId: step, RequestId: requestid.New()})
		c <- err
	}()
	return c
}

// begin gives this side's half of a step its session.
func (f *foreign) begin(t *testing.T, step int64) *rendezvous.Remote {
	t.Helper()
	r := f.here.Manager.Find(step)
	if err := r.Initialize(f.here.Session); err != nil {
		t.Fatal(err)
	}
	return r
}

type received struct {
	t    *core.Tensor
	dead bool
	err  error
}

func receiveFrom(r *rendezvous.Remote, key string) <-chan received {
	c := make(chan received, 1)
	r.Recv(context.Background(), key, func(t *core.Tensor, dead bool, err error) { c <- received{t, dead, err} })
	return c
}

// TestForeignEcho sends values of all types to TensorFlow's worker, alive and
// dead, and gets them back: its decoder reads our encoder, and ours its.
func TestForeignEcho(t *testing.T) {
	f := startForeign(t)
	values := samples(t)
	var types []core.DType
	for _, v := range values {
		types = append(types, v.DType())
	}
	handle := f.register(t, f.echoGraph(types))
	for step, dead := range []bool{false, true} {
		ran := f.run(handle, int64(step))
		r := f.begin(t, int64(step))
		for i, v := range values {
			if err := r.Send(f.in(i), v, dead); err != nil {
				t.Fatal(err)
			}
		}
		for i, v := range values {
			g := <-receiveFrom(r, f.out(i))
			if g.err != nil || g.dead != dead {
				t.Fatalf("%v%v, dead %v: comes back dead %v, %v", v.DType(), v.Shape(), dead, g.dead, g.err)
			}
			if !dead {
				wantSame(t, fmt.Sprint("echo ", i), v, g.t)
			}
		}
		if err := <-ran; err != nil {
			t.Errorf("RunGraph: %v", err)
		}
		f.here.Manager.Cleanup(int64(step))
	}
}

// TestForeignErrors: what TensorFlow's worker says of failures arrives with
// its code, though it comes with payloads that gRPC for Go does not expect.
func TestForeignErrors(t *testing.T) {
	f := startForeign(t)
	handle := f.register(t, f.echoGraph([]core.DType{core.Float32}))
	ctx := context.Background()

	ran := f.run(handle, 7)
	f.begin(t, 7).Abort(core.Errorf(core.Aborted, "our half of the step is over"))
	if err := <-ran; core.CodeOf(err) != core.Aborted {
		t.Errorf("RunGraph whose input is aborted: %v, want ABORTED", err)
	}
	_, err := f.RecvTensor(ctx, &pb.RecvTensorRequest{StepId: 7, RendezvousKey: f.out(0), RequestId: requestid.New()}, nil)
	if core.CodeOf(err) != core.Aborted || !strings.Contains(err.Error(), "our half of the step is over") || !core.AsError(err).Derived {
		t.Errorf("receive from an aborted step: %v, derived %v, want ABORTED, derived", err, core.AsError(err).Derived)
	}
	if _, err := f.CleanupGraph(ctx, &pb.CleanupGraphRequest{StepId: 7}); err != nil {
		t.Error(err)
	}

	old := rendezvous.Key{Src: f.device, SrcIncarnation: 1, Dst: ourDevice, Edge: "out0"}
	g := <-receiveFrom(f.begin(t, 8), old.String())
	if core.CodeOf(g.err) != core.Aborted || !strings.Contains(g.err.Error(), fmt.Sprintf("RecvTensor expects a different device incarnation: 1 vs. %d. Your worker job", f.incarnation)) {
		t.Errorf("receive from an earlier life of the worker: %v", g.err)
	}
	if err := <-f.run("nowhere", 9); core.CodeOf(err) != core.Aborted || !strings.Contains(err.Error(), "Graph handle is not found: nowhere") {
		t.Errorf("RunGraph of an unknown graph: %v", err)
	}
	f.here.Manager.CleanupAll()
}

// TestForeignMeetsAbort: the reason why our step failed reaches TensorFlow's
// worker, which ends its step with it.
func TestForeignMeetsAbort(t *testing.T) {
	f := startForeign(t)
	handle := f.register(t, f.echoGraph([]core.DType{core.Float32}))
	ran := f.run(handle, 3)
	f.begin(t, 3).Abort(core.Errorf(core.DataLoss, "the input file has a hole"))
	if err := <-ran; core.CodeOf(err) != core.DataLoss || !strings.Contains(err.Error(), "the input file has a hole") {
		t.Errorf("RunGraph whose input fails: %v, want the failure", err)
	}
	f.here.Manager.Cleanup(3)
}
