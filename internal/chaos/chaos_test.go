package chaos

import (
	"context"
	"flag"
	"fmt"
	"os"
	"reflect"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/gorge-tf/gorge/internal/invariants"
	"github.com/gorge-tf/gorge/internal/leaktest"
	"github.com/gorge-tf/gorge/internal/requestid"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/pb"
)

func TestMain(m *testing.M) { leaktest.Main(m) }

var oneSeed = flag.Uint64("seed", 0, "run this `seed` only, 100 times")

var (
	madeMu sync.Mutex
	counts = map[int64]int{}
)

func init() {
	core.Register(core.OpDef{
		Name: "TestChaosUpdate", In: "id: int64", Out: "made: int64", Stateful: true, NoGrad: core.NotDifferentiable,
		Shape: core.UnchangedShape, Kernels: core.AnyType(update),
	})
}

// update is the kernel of an op that changes what a parameter server has.
func update(*core.Node) (core.Kernel, error) {
	return core.Compute(func(c *core.OpContext) error {
		id := core.Data[int64](c.Input(0))[0]
		madeMu.Lock()
		counts[id]++
		madeMu.Unlock()
		y, err := c.Alloc(0, tf.Int64, tf.Shape{})
		if err != nil {
			return err
		}
		core.Data[int64](y)[0] = id
		return nil
	}), nil
}

// graphOf is that of a client: what is fed goes over two workers to a parameter
// server, which makes the update.
func graphOf(p *Plan, client int) (*pb.GraphDef, error) {
	g := tf.NewGraph()
	workers := p.Tasks - p.servers()
	at := func(i int) tf.Option { return tf.OnDevice(p.name(p.servers()+(client+i)%workers) + "/device:CPU:0") }
	id := ops.Placeholder(g, tf.Int64, tf.Shape{}, tf.Name("id"), at(0))
	id = ops.Identity(ops.Identity(id, at(1)), at(2))
	tf.Apply(g, "TestChaosUpdate", []tf.Output{id}, tf.Name("update"), tf.OnDevice(p.name(client%p.servers())+"/device:CPU:0"))
	def, err := g.GraphProto(0)
	if err != nil {
		return nil, err
	}
	return proto.CloneOf(def), g.Err()
}

// A client makes updates, one after the other, and remembers how they ended.
type client struct {
	c        *Cluster
	number   int
	home     int // the task whose master it uses
	def      *pb.GraphDef
	handle   string
	next     int64
	acked    []int64
	unsure   []int64
	slowest  time.Duration
	careless bool // gives a request a new number when it makes it again
}

const stepLimit = time.Minute

// atMaster makes a call at the client's master, again while that cannot be reached,
// as clients do: the request keeps its number.
func atMaster[T any](ctx context.Context, k *client, what string, f func(context.Context, *life) (T, error)) (out T, err error) {
	for range 5 {
		out, err = call(ctx, k.c.Network, way{-1, k.home}, what, f)
		if core.CodeOf(err) != core.Unavailable || ctx.Err() != nil {
			return out, err
		}
		time.Sleep(time.Second)
	}
	return out, err
}

// open opens a session.
func (k *client) open(ctx context.Context) error {
	resp, err := atMaster(ctx, k, "CreateSession", func(ctx context.Context, l *life) (*pb.CreateSessionResponse, error) {
		return l.master.CreateSession(ctx, &pb.CreateSessionRequest{GraphDef: k.def})
	})
	k.handle = resp.GetSessionHandle()
	return err
}

// step makes one update.
func (k *client) step() bool {
	began := time.Now()
	ctx, cancel := context.WithTimeout(context.Background(), stepLimit)
	defer cancel()
	defer func() { k.slowest = max(k.slowest, time.Since(began)) }()
	if k.handle == "" {
		if err := k.open(ctx); err != nil {
			k.handle = ""
			return false
		}
	}
	k.next++
	id := int64(k.number)<<32 | k.next
	req := &pb.RunStepRequest{
		SessionHandle: k.handle, Fetch: []string{"update:0"}, RequestId: requestid.New(),
		Feed: []*pb.NamedTensorProto{{Name: "id:0", Tensor: core.TensorProto(core.Scalar(id))}},
	}
	resp, err := atMaster(ctx, k, "RunStep", func(ctx context.Context, l *life) (*pb.RunStepResponse, error) {
		if k.careless {
			req = proto.CloneOf(req)
			req.RequestId = requestid.New()
		}
		return l.master.RunStep(ctx, req)
	})
	if err != nil {
		k.unsure = append(k.unsure, id)
		k.handle = ""
		return false
	}
	if got, err := core.TensorFromProto(resp.GetTensor()[0].GetTensor()); err != nil || core.Data[int64](got)[0] != id {
		panic(fmt.Sprintf("update %d was answered %v, %v", id, got, err))
	}
	k.acked = append(k.acked, id)
	return true
}

// run is a whole run of a plan. It returns what must not be. Careless clients are
// those that a check has to catch.
func run(p *Plan, careless bool) error {
	madeMu.Lock()
	clear(counts)
	madeMu.Unlock()
	c, err := Start(p)
	if err != nil {
		return err
	}
	defer c.Stop()
	clients := make([]*client, p.Clients)
	var wg sync.WaitGroup
	until := time.Now().Add(p.For)
	for i := range clients {
		k := &client{c: c, number: i + 1, home: p.servers() + i%(p.Tasks-p.servers()), careless: careless}
		if k.def, err = graphOf(p, i); err != nil {
			return err
		}
		clients[i] = k
		wg.Go(func() {
			for time.Now().Before(until) {
				k.step()
				time.Sleep(time.Second)
			}
		})
	}
	wg.Go(func() { err = c.Follow() })
	wg.Wait()
	if err != nil {
		return err
	}
	c.heal()
	for _, k := range clients {
		if err := k.settle(); err != nil {
			return err
		}
	}
	for _, k := range clients {
		if err := k.judge(); err != nil {
			return err
		}
	}
	return nil
}

// settle: with all tasks and ways back, updates succeed again soon.
func (k *client) settle() error {
	for range 10 {
		if k.step() {
			return nil
		}
		time.Sleep(10 * time.Second)
	}
	return fmt.Errorf("client %d makes no updates though all tasks are back", k.number)
}

// judge compares what the client was told with what was done.
func (k *client) judge() error {
	madeMu.Lock()
	defer madeMu.Unlock()
	for _, id := range k.acked {
		if counts[id] != 1 {
			return fmt.Errorf("update %x succeeded, and was made %d times", id, counts[id])
		}
	}
	for _, id := range k.unsure {
		if counts[id] > 1 {
			return fmt.Errorf("update %x failed, and was made %d times", id, counts[id])
		}
	}
	if most := stepLimit + 2*silence; k.slowest > most {
		return fmt.Errorf("a call of client %d took %v, its limit is %v", k.number, k.slowest, stepLimit)
	}
	return nil
}

// seeds returns how many seeds are tried.
func seeds(t *testing.T) uint64 {
	n, err := strconv.ParseUint(os.Getenv("GORGE_CHAOS"), 10, 64)
	if os.Getenv("GORGE_CHAOS") == "" {
		if invariants.Enabled { // and the race detector, which takes its time
			return 30
		}
		return 200
	}
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// TestSeeds runs plans. A seed that fails prints itself; run it again by
//
//	go test ./internal/chaos -run TestSeeds -seed N
func TestSeeds(t *testing.T) {
	if *oneSeed > 0 {
		failed := 0
		for range 100 {
			if err := try(t, *oneSeed); err != nil {
				failed++
				t.Log(err)
			}
		}
		if failed > 0 {
			t.Errorf("seed %d fails %d times in 100", *oneSeed, failed)
		}
		return
	}
	for seed := uint64(1); seed <= seeds(t); seed++ {
		if err := try(t, seed); err != nil {
			t.Errorf("seed %d: %v; the plan is %+v", seed, err, NewPlan(seed))
		}
	}
}

// try runs the plan of a seed in a bubble, which fails if anything is left behind.
func try(t *testing.T, seed uint64) (err error) {
	ok := t.Run(strconv.FormatUint(seed, 10), func(t *testing.T) {
		synctest.Test(t, func(*testing.T) {
			p := NewPlan(seed)
			err = run(&p, false)
		})
	})
	if err == nil && !ok {
		err = fmt.Errorf("something is left behind")
	}
	return err
}

// TestCatchesCarelessClients: a check that cannot fail is none. Clients that make a
// request again under a new number make updates twice, which some plan shows.
func TestCatchesCarelessClients(t *testing.T) {
	for seed := range uint64(60) {
		var err error
		synctest.Test(t, func(*testing.T) {
			p := NewPlan(seed)
			err = run(&p, true)
		})
		if err != nil {
			t.Logf("seed %d: %v", seed, err)
			return
		}
	}
	t.Error("updates that are made twice are not noticed")
}

// TestPlans: equal seeds give equal plans, and plans have faults of all kinds.
func TestPlans(t *testing.T) {
	kinds := map[Kind]int{}
	for seed := range uint64(300) {
		a, b := NewPlan(seed), NewPlan(seed)
		if !reflect.DeepEqual(a, b) {
			t.Errorf("seed %d gives %+v and %+v", seed, a, b)
		}
		for _, e := range a.Events {
			kinds[e.Kind]++
		}
		if a.Tasks < 3 || a.Tasks > 64 || a.Tasks-a.servers() < 2 {
			t.Errorf("seed %d has %d tasks", seed, a.Tasks)
		}
	}
	if len(kinds) != 3 {
		t.Errorf("the kinds of faults are %v", kinds)
	}
}
