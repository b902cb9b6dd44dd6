package cluster_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/cluster"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/pb"
)

// An eagerAttacker calls the eager services of a cluster in any order.
type eagerAttacker struct {
	*attacker
	*eagerTarget
	ops []string // of which any inputs and attributes are safe to try
}

// An eagerTarget is the cluster that is attacked.
type eagerTarget struct {
	spec    cluster.Spec
	devices []*pb.DeviceAttributes
}

// newEagerTarget asks the tasks of a cluster for their devices.
func newEagerTarget(t *testing.T, c *running) *eagerTarget {
	t.Helper()
	out := &eagerTarget{spec: c.spec}
	for _, conn := range connections(t, c) {
		resp := &pb.GetStatusResponse{}
		if err := conn.Invoke(t.Context(), ofWorker+"GetStatus", &pb.GetStatusRequest{}, resp); err != nil {
			t.Fatal(err)
		}
		out.devices = append(out.devices, resp.GetDeviceAttributes()...)
	}
	return out
}

// wrong is what no answer may be, whatever the call: a panic, or an error that has no
// code.
func wrong(err error) bool {
	s := status.Convert(err)
	return strings.Contains(s.Message(), "panic") || s.Code() == codes.Unknown || s.Code() > codes.Unauthenticated
}

// run makes calls until ctx ends. It returns the first answer that is wrong.
func (a *eagerAttacker) run(ctx context.Context) (calls int, bad error) {
	for ; ctx.Err() == nil; calls++ {
		a.at = a.r.IntN(len(a.conns))
		c := eagerAttacks[a.r.IntN(len(eagerAttacks))](a)
		limit := []time.Duration{time.Millisecond, 5 * time.Millisecond, 50 * time.Millisecond, 300 * time.Millisecond}[a.r.IntN(4)]
		within, cancel := context.WithTimeout(ctx, limit)
		if a.r.IntN(4) == 0 {
			time.AfterFunc(limit/2, cancel)
		}
		err := a.make(within, c)
		cancel()
		if wrong(err) && bad == nil {
			bad = fmt.Errorf("%s of %v: %w", c.path, c.reqs, err)
		}
	}
	return calls, bad
}

// make makes one call: one request and its answer, or a stream of them.
func (a *eagerAttacker) make(ctx context.Context, c eagerCall) error {
	data := make([][]byte, len(c.reqs))
	for i, req := range c.reqs {
		var err error
		if data[i], err = proto.Marshal(req); err != nil {
			return nil // a text that is no UTF-8
		}
		if a.r.IntN(8) == 0 && !c.intact {
			data[i] = a.spoil(data[i])
		}
	}
	if c.path == eagerPath+"StreamingEnqueue" {
		return a.stream(ctx, data)
	}
	var answer []byte
	return a.conns[a.at].Invoke(ctx, c.path, &data[0], &answer, grpc.ForceCodec(asIs{}))
}

// stream sends requests, and takes as many answers as it likes before it leaves.
func (a *eagerAttacker) stream(ctx context.Context, data [][]byte) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	s, err := a.conns[a.at].NewStream(ctx, &grpc.StreamDesc{ServerStreams: true, ClientStreams: true}, eagerPath+"StreamingEnqueue", grpc.ForceCodec(asIs{}))
	if err != nil {
		return err
	}
	for i := range data {
		if err := s.SendMsg(&data[i]); err != nil {
			break // the answer says why
		}
	}
	if a.r.IntN(2) == 0 {
		_ = s.CloseSend() // which never fails
	}
	for range a.r.IntN(len(data) + 1) {
		var answer []byte
		if err := s.RecvMsg(&answer); err != nil {
			return err
		}
	}
	return nil
}

// An eagerBystander has a context of its own on all tasks. Whatever others do, its calls
// succeed, and their results are right. Memory is one for all: where others have it, a call
// says so and succeeds when it is tried again.
type eagerBystander struct {
	*eagerTarget
	id    uint64
	k     float32
	next  int64
	conns []*grpc.ClientConn
}

// function is x² on the other task, less k here.
func (b *eagerBystander) function() *pb.FunctionDef {
	return float(&pb.FunctionDef{Signature: &pb.OpDef{Name: "f"}, NodeDef: []*pb.NodeDef{
		{Name: "far", Op: "Square", Input: []string{"x"}, Device: eagerCPUs[1], Attr: map[string]*pb.AttrValue{"T": attr(tf.Float32)}},
		{Name: "less", Op: "Sub", Input: []string{"far:y:0", "k"}, Device: eagerCPUs[0], Attr: map[string]*pb.AttrValue{"T": attr(tf.Float32)}},
	}, Ret: map[string]string{"z": "less:z:0"}}, []string{"x", "k"}, "z")
}

// float gives a function arguments and a result, all of them floats.
func float(f *pb.FunctionDef, args []string, ret string) *pb.FunctionDef {
	for _, name := range args {
		f.Signature.InputArg = append(f.Signature.InputArg, &pb.OpDef_ArgDef{Name: name, Type: pb.DataType_DT_FLOAT})
	}
	f.Signature.OutputArg = []*pb.OpDef_ArgDef{{Name: ret, Type: pb.DataType_DT_FLOAT}}
	return f
}

func (b *eagerBystander) open(ctx context.Context) error {
	for i, conn := range b.conns {
		req := &pb.CreateContextRequest{ContextId: b.id, ServerDef: b.serverDef(i), ClusterDeviceAttributes: b.devices, ClearExistingContexts: true}
		if err := conn.Invoke(ctx, eagerPath+"CreateContext", req, &pb.CreateContextResponse{}); err != nil {
			return err
		}
	}
	return b.enqueue(ctx, &pb.EnqueueResponse{}, &pb.QueueItem{Item: &pb.QueueItem_RegisterFunction{RegisterFunction: &pb.RegisterFunctionOp{FunctionDef: b.function()}}})
}

func (b *eagerBystander) enqueue(ctx context.Context, resp *pb.EnqueueResponse, items ...*pb.QueueItem) error {
	return b.conns[0].Invoke(ctx, eagerPath+"Enqueue", &pb.EnqueueRequest{ContextId: b.id, Queue: items}, resp)
}

// run computes until attack ends. It goes on after that for as long as one call takes.
func (b *eagerBystander) run(ctx, attack context.Context) error {
	if err := b.open(ctx); err != nil {
		return err
	}
	for v := float32(0); attack.Err() == nil; v++ {
		err := b.once(ctx, v)
		for again := 0; again < 50 && status.Code(err) == codes.ResourceExhausted; again++ {
			time.Sleep(100 * time.Millisecond)
			err = b.once(ctx, v)
		}
		if err != nil {
			return fmt.Errorf("%v² - %v: %w", v, b.k, err)
		}
	}
	return nil
}

// once sends v, calls the function with it, and fetches the result.
func (b *eagerBystander) once(ctx context.Context, v float32) error {
	b.next += 2
	sent, called := b.next, b.next+1
	resp := &pb.EnqueueResponse{}
	err := b.enqueue(ctx, resp,
		&pb.QueueItem{Item: &pb.QueueItem_SendTensor{SendTensor: &pb.SendTensorOp{OpId: sent, DeviceName: eagerCPUs[0], Tensors: []*pb.TensorProto{scalar(v), scalar(b.k)}}}},
		opItem(&pb.Operation{Id: called, Name: "f", Device: eagerCPUs[0], IsFunction: true, OpInputs: []*pb.Operation_Input{ofHandle(eagerHandle(sent, 0)), ofHandle(eagerHandle(sent, 1))}}),
		opItem(&pb.Operation{Id: -1, Name: "Identity", Device: eagerCPUs[0], Attrs: map[string]*pb.AttrValue{"T": attr(tf.Float32)}, OpInputs: []*pb.Operation_Input{ofHandle(eagerHandle(called, 0))}}),
		dropping(eagerHandle(sent, 0)), dropping(eagerHandle(sent, 1)), dropping(eagerHandle(called, 0)),
	)
	if err != nil {
		return err
	}
	got, err := core.TensorFromProto(resp.GetQueueResponse()[2].GetTensor()[0])
	if err != nil {
		return err
	}
	if y := core.Data[float32](got); !slices.Equal(y, []float32{v*v - b.k}) {
		return fmt.Errorf("the result is %v", y)
	}
	return nil
}

// TestHostileEagerCalls: peers that call all methods of the eager services in any order,
// in contexts that they share, with operations, handles and functions that are wrong and
// messages that are spoiled, get answers or errors that have codes. They change nothing of
// what others compute in contexts of their own, and nothing of theirs stays.
func TestHostileEagerCalls(t *testing.T) {
	defer tf.SetMemoryLimit(tf.SetMemoryLimit(1 << 29)) // of what asks for too much, some is granted
	c := start(t, map[string]int{"worker": 2})
	before := inUse()
	attack, cancel := context.WithTimeout(t.Context(), *hostileTime)
	defer cancel()
	target, ops := newEagerTarget(t, c), safeOps()
	var group sync.WaitGroup
	for i := range 4 {
		a := &eagerAttacker{attacker: &attacker{r: rand.New(rand.NewPCG(*hostileSeed, uint64(i))), conns: connections(t, c)}, eagerTarget: target, ops: ops}
		group.Go(func() {
			calls, bad := a.run(attack)
			t.Log(calls, "calls")
			if bad != nil {
				t.Error(bad)
			}
		})
	}
	for k := range 2 {
		b := &eagerBystander{eagerTarget: target, id: 0x5eed<<40 + uint64(k), k: float32(1000 * (k + 1)), conns: connections(t, c)}
		group.Go(func() {
			if err := b.run(t.Context(), attack); err != nil {
				t.Errorf("a bystander: %v", err)
			}
		})
	}
	group.Wait()
	for i, conn := range connections(t, c) {
		closeContexts(t, conn, c.servers[taskKey("worker", i)])
	}
	for name, s := range c.servers {
		settled(t, name, s)
	}
	if after := inUse(); after > before+64<<20 {
		t.Errorf("%d bytes were in use before the attack, %d are after it", before, after)
	}
}

// inUse returns the bytes in use when garbage is gone.
func inUse() int64 {
	runtime.GC()
	runtime.GC() // what finalizers of the first have given back
	n, _ := tf.MemoryUsage()
	return n
}

// closeContexts closes all contexts of a server, whatever their views, also those that calls
// still open whose clients have left. What runs in them has to end by that.
func closeContexts(t *testing.T, conn *grpc.ClientConn, s *cluster.Server) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for quiet := 0; quiet < 20 && ctx.Err() == nil; quiet++ {
		for _, name := range s.Status().WorkerSessions {
			quiet = 0
			closeContext(ctx, t, conn, name)
		}
		time.Sleep(10 * time.Millisecond)
	}
}

func closeContext(ctx context.Context, t *testing.T, conn *grpc.ClientConn, session string) {
	t.Helper()
	var id uint64
	if _, err := fmt.Sscanf(session, "eager_%d", &id); err != nil {
		t.Errorf("a session %q: %v", session, err)
	}
	if err := conn.Invoke(ctx, eagerPath+"CloseContext", &pb.CloseContextRequest{ContextId: id, ContextViewId: math.MaxUint64}, &pb.CloseContextResponse{}); err != nil {
		t.Errorf("closing %s: %v", session, err)
	}
}

// safeOps returns ops that attackers may call with anything: those without effects
// outside of the process.
func safeOps() (names []string) {
	for _, name := range core.OpNames() {
		if d := core.Lookup(name); !d.Stateful && !strings.Contains(name, "File") {
			names = append(names, name)
		}
	}
	return names
}
