package cluster_test

import (
	"context"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/protobuf/proto"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/cluster"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/pb"
	"github.com/gorge-tf/gorge/tf/session"
)

var (
	hostileTime = flag.Duration("hostile", 2*time.Second, "how long TestHostileCalls makes calls")
	hostileSeed = flag.Uint64("hostile_seed", 1, "the seed of TestHostileCalls")
)

// asIs lets messages travel as the bytes that they are.
type asIs struct{}

func (asIs) Name() string                  { return "proto" }
func (asIs) Marshal(v any) ([]byte, error) { return *v.(*[]byte), nil }
func (asIs) Unmarshal(b []byte, v any) error {
	*v.(*[]byte) = append([]byte(nil), b...)
	return nil
}

// A pool holds what servers have given to all that attack them, and names that they
// have made up.
type pool struct {
	mu    sync.Mutex
	names map[string][]string
}

func (p *pool) put(kind, name string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.names[kind] = append(p.names[kind], name)
}

// take returns a name of a kind, or one that is none.
func (p *pool) take(r *rand.Rand, kind string) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	if all := p.names[kind]; len(all) > 0 && r.IntN(8) > 0 {
		return all[len(all)-1-r.IntN(min(len(all), 12))]
	}
	return []string{"", "nonsense", "0000000000000000", "ä\x00;/", string(make([]byte, 1<<16))}[r.IntN(5)]
}

// An attacker makes calls in any order.
type attacker struct {
	r     *rand.Rand
	conns []*grpc.ClientConn
	pool  *pool
	tasks []string
	at    int // index into conns of the server that gets the next call
}

const (
	ofMaster = "/tensorflow.MasterService/"
	ofWorker = "/tensorflow.WorkerService/"
)

// run makes calls until ctx ends, each from a little to some time long.
func (a *attacker) run(ctx context.Context) (calls int) {
	for ; ctx.Err() == nil; calls++ {
		a.at = a.r.IntN(len(a.conns))
		c := attacks[a.r.IntN(len(attacks))](a)
		data, err := proto.Marshal(c.req)
		if err != nil {
			continue // a text that is no UTF-8
		}
		if a.r.IntN(5) == 0 && c.path != ofMaster+"Reset" { // which would end all sessions
			data = a.spoil(data)
		}
		limit := []time.Duration{time.Millisecond, 5 * time.Millisecond, 50 * time.Millisecond, 300 * time.Millisecond}[a.r.IntN(4)]
		within, cancel := context.WithTimeout(ctx, limit)
		if a.r.IntN(4) == 0 {
			time.AfterFunc(limit/2, cancel)
		}
		var answer []byte
		err = a.conns[a.at].Invoke(within, c.path, &data, &answer, grpc.ForceCodec(asIs{}))
		cancel()
		if err == nil && c.got != nil {
			c.got(answer)
		}
	}
	return calls
}

// spoil changes some bytes of a message, or its length.
func (a *attacker) spoil(b []byte) []byte {
	for range 1 + a.r.IntN(3) {
		switch at := a.r.IntN(len(b) + 1); a.r.IntN(3) {
		case 0:
			b = b[:at]
		case 1:
			b = append(b[:at:at], append([]byte{byte(a.r.IntN(256))}, b[at:]...)...)
		default:
			if at < len(b) {
				b[at] = byte(a.r.IntN(256))
			}
		}
	}
	return b
}

// sessions is what sessions of the master are called of which the next call is made, or
// at times those of another one.
func (a *attacker) sessions() string {
	if a.r.IntN(12) == 0 {
		return fmt.Sprint("session", a.r.IntN(len(a.conns)))
	}
	return fmt.Sprint("session", a.at)
}

// seldom is what is rarely called, as it ends what others do; else it takes a name that
// is none.
func (a *attacker) seldom(kind string) string {
	if a.r.IntN(15) > 0 {
		kind = "none"
	}
	return a.pool.take(a.r, kind)
}

func (a *attacker) task() string { return a.tasks[a.r.IntN(len(a.tasks))] }

// step is the number of a step, perhaps one that others have.
func (a *attacker) step() int64 { return steps[a.r.IntN(len(steps))] }

var steps = []int64{0, -1, 1, 7, 8, math.MaxInt64, math.MinInt64, 1 << 57}

func (a *attacker) number() int64 {
	return []int64{0, -1, 1, 2, math.MaxInt64, math.MinInt64, a.r.Int64()}[a.r.IntN(7)]
}

// key is that of a tensor, or nearly.
func (a *attacker) key() string {
	if a.r.IntN(8) == 0 {
		return a.pool.take(a.r, "key")
	}
	return fmt.Sprintf("%s/device:CPU:0;%016x;%s/device:CPU:0;%s;0:0", a.task(), a.incarnation(), a.task(), []string{"x:0", "y:0", ""}[a.r.IntN(3)])
}

func (a *attacker) incarnation() uint64 {
	var n uint64
	_, _ = fmt.Sscan(a.pool.take(a.r, "incarnation"), &n) // 0 if it is none
	return n + uint64(a.r.IntN(8)/7)
}

func (a *attacker) tensor() *pb.TensorProto {
	if a.r.IntN(2) == 0 {
		return &pb.TensorProto{Dtype: 1, FloatVal: []float32{2}}
	}
	p := &pb.TensorProto{Dtype: pb.DataType(a.r.IntN(25)), TensorShape: &pb.TensorShapeProto{UnknownRank: a.r.IntN(9) == 0}, FloatVal: []float32{float32(a.r.IntN(9))}}
	if a.r.IntN(2) == 0 {
		p.Dtype = 1
	}
	for range a.r.IntN(3) {
		p.TensorShape.Dim = append(p.TensorShape.Dim, &pb.TensorShapeProto_Dim{Size: []int64{1, 1, 1, 2, 0, -1, -5, 1 << 62}[a.r.IntN(8)]})
	}
	return p
}

// The values of one session must not come to another one.
func squareLess(k float32) (g *tf.Graph, x, y tf.Output) {
	g = tf.NewGraph()
	x = ops.Placeholder(g, tf.Float32, tf.Shape{}, tf.Name("x"))
	far := ops.Square(x, tf.OnDevice("/job:worker/task:1"))
	return g, x, ops.Sub(far, ops.Scalar(g, k), tf.Name("y"), tf.OnDevice("/job:worker/task:0"))
}

// A bystander runs steps while others attack. They may fail, as attackers may reset
// the servers, but have no wrong values.
func bystander(ctx context.Context, target string, k float32) error {
	g, x, y := squareLess(k)
	for i := 0; ctx.Err() == nil; i++ {
		s, err := session.New(g, session.Target(target))
		if err != nil {
			return err
		}
		for j := range 20 {
			v := float32(i + j)
			got, err := session.Fetch[float32](ctx, s, session.Feeds{x: tf.Scalar(v)}, y)
			if err != nil {
				break
			}
			if got[0] != v*v-k {
				return fmt.Errorf("%v² - %v is %v", v, k, got)
			}
		}
		s.Close()
	}
	return nil
}

// TestHostileCalls: peers that call all methods of the servers in any order, with
// handles of others, with messages that are spoiled, and that give up in between, neither
// end the servers nor change what others compute, and nothing of theirs stays.
func TestHostileCalls(t *testing.T) {
	c := start(t, map[string]int{"worker": 2})
	ctx, cancel := context.WithTimeout(t.Context(), *hostileTime)
	defer cancel()
	all := &pool{names: map[string][]string{}}
	var group sync.WaitGroup
	for i := range 4 {
		a := &attacker{r: rand.New(rand.NewPCG(*hostileSeed, uint64(i))), pool: all, tasks: []string{"/job:worker/replica:0/task:0", "/job:worker/replica:0/task:1"}, conns: connections(t, c)}
		group.Go(func() { t.Log(a.run(ctx), "calls") })
	}
	target := "grpc://" + c.spec["worker"][0]
	for k := range 2 {
		group.Go(func() {
			if err := bystander(ctx, target, float32(1000*(k+1))); err != nil {
				t.Errorf("a bystander: %v", err)
			}
		})
	}
	group.Wait()
	conns := connections(t, c)
	for _, s := range c.servers {
		forget(t, conns, s)
	}
	for name, s := range c.servers {
		settled(t, name, s)
	}
	g, x, y := squareLess(5)
	if got, err := session.Fetch[float32](t.Context(), open(t, g, target), session.Feeds{x: tf.Scalar[float32](3)}, y); err != nil || got[0] != 4 {
		t.Errorf("after the attack 3² - 5 is %v, %v", got, err)
	}
}

func connections(t *testing.T, c *running) (out []*grpc.ClientConn) {
	t.Helper()
	for _, address := range c.spec["worker"] {
		conn, err := grpc.NewClient(address, grpc.WithTransportCredentials(insecure.NewCredentials()))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { conn.Close() })
		out = append(out, conn)
	}
	return out
}

// forget ends all that attackers may have begun.
func forget(t *testing.T, conns []*grpc.ClientConn, s *cluster.Server) {
	t.Helper()
	reqs := []call{{path: ofMaster + "Reset", req: &pb.ResetRequest{}}, {path: ofWorker + "DeleteWorkerSession", req: &pb.DeleteWorkerSessionRequest{}}}
	for _, name := range s.Status().WorkerSessions {
		reqs = append(reqs, call{path: ofWorker + "DeleteWorkerSession", req: &pb.DeleteWorkerSessionRequest{SessionHandle: name}})
	}
	for _, step := range steps {
		reqs = append(reqs, call{path: ofWorker + "CleanupGraph", req: &pb.CleanupGraphRequest{StepId: step}})
	}
	for _, c := range reqs {
		data, err := proto.Marshal(c.req)
		if err != nil {
			t.Fatal(err)
		}
		for _, conn := range conns {
			var answer []byte
			_ = conn.Invoke(t.Context(), c.path, &data, &answer, grpc.ForceCodec(asIs{})) // some are gone already
		}
	}
}

// settled waits until a server has nothing left to do.
func settled(t *testing.T, name string, s *cluster.Server) {
	t.Helper()
	for end := time.Now().Add(30 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		got := s.Status()
		if len(got.Sessions) == 0 && len(got.WorkerSessions) == 0 && got.Steps == 0 && got.WorkerSteps == 0 && got.Waiting == 0 {
			return
		}
		if time.Now().After(end) {
			t.Errorf("%s still has sessions %v, of workers %q, %d steps, %d of workers, %d waits %v", name, got.Sessions, got.WorkerSessions, got.Steps, got.WorkerSteps, got.Waiting, got.Waits)
			return
		}
	}
}
