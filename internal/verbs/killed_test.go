package verbs_test

import (
	"bufio"
	"context"
	"encoding/base64"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"testing"

	"google.golang.org/protobuf/proto"

	"github.com/gorge-tf/gorge/internal/rendezvous"
	"github.com/gorge-tf/gorge/internal/rendezvous/rendezvoustest"
	"github.com/gorge-tf/gorge/internal/verbs"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/pb"
)

// victimVariable makes a process of these tests the peer that is killed.
const victimVariable = "GORGE_TEST_VICTIM"

// victimSizes are the sizes of what it sends, by the number of the step.
var victimSizes = []int{1, 300, 5000, 100_000, 700_000}

// victim serves whatever it is asked for, and tells where it is by lines, until it is
// killed or its input ends.
func victim() {
	dev, err := openDevice()
	if err != nil {
		panic(err)
	}
	m, err := verbs.NewManager(dev, verbs.Options{
		Config: verbs.Config{ArenaBytes: arenaBytes}, Task: rendezvoustest.TaskA, Peers: []string{rendezvoustest.TaskB},
		Serve: func(_ context.Context, step int64, _ string, done rendezvous.Done) {
			done(full(victimSizes[step%int64(len(victimSizes))], byte(step)), false, nil)
		},
	})
	if err != nil {
		panic(err)
	}
	for in := bufio.NewScanner(os.Stdin); in.Scan(); {
		req, resp := &pb.GetRemoteAddressRequest{}, &pb.GetRemoteAddressResponse{}
		if err := read(in.Text(), req); err == nil {
			if resp, err = m.GetRemoteAddress(context.Background(), req); err != nil {
				panic(err)
			}
		}
		fmt.Println(written(resp))
	}
}

func written(m proto.Message) string {
	b, err := proto.Marshal(m)
	if err != nil {
		panic(err)
	}
	return "=" + base64.StdEncoding.EncodeToString(b)
}

func read(line string, m proto.Message) error {
	b, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(line, "="))
	if err != nil {
		return err
	}
	return proto.Unmarshal(b, m)
}

// victims starts peers one after the other, and asks the one that lives.
type victims struct {
	t   *testing.T
	mu  sync.Mutex
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Reader
}

func (v *victims) start() {
	v.t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), victimVariable+"=1")
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		v.t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		v.t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		v.t.Fatal(err)
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	v.cmd, v.in, v.out = cmd, in, bufio.NewReader(out)
}

func (v *victims) kill() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.cmd.Process.Kill()
	v.cmd.Wait()
}

// GetRemoteAddress asks the peer; one that is dead is UNAVAILABLE.
func (v *victims) GetRemoteAddress(_ context.Context, _ string, req *pb.GetRemoteAddressRequest) (*pb.GetRemoteAddressResponse, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	_, err := io.WriteString(v.in, written(req)+"\n")
	var line string
	if err == nil {
		line, err = v.out.ReadString('\n')
	}
	if err != nil {
		return nil, core.Errorf(core.Unavailable, "the peer is dead: %v", err)
	}
	resp := &pb.GetRemoteAddressResponse{}
	return resp, read(strings.TrimSpace(line), resp)
}

// kills is how many peers are killed; the environment may say more.
func kills() int {
	if n, err := strconv.Atoi(os.Getenv("GORGE_KILLS")); err == nil {
		return n
	}
	return 5
}

// TestKilledPeers: a peer may be killed at any point. What is being received from it then
// fails with UNAVAILABLE, what arrived is whole, its successor is found, and no
// memory is lost.
func TestKilledPeers(t *testing.T) {
	v := &victims{t: t}
	dev, err := openDevice()
	if err != nil {
		t.Fatal(err)
	}
	m, err := verbs.NewManager(dev, verbs.Options{
		Config: verbs.Config{ArenaBytes: arenaBytes, Log: testLog}, Task: rendezvoustest.TaskB, Peers: []string{rendezvoustest.TaskA}, Exchanger: v,
	})
	if err != nil {
		t.Fatal(err)
	}
	memo := &counted{}
	memo.none.L = &memo.mu
	r := rand.New(rand.NewPCG(1, 2))
	failed := 0
	for n := range kills() {
		v.start()
		failed += receiveUntilKilled(t, m, memo, r.IntN(200), v.kill)
		if t.Failed() {
			t.Fatalf("peer %d", n)
		}
	}
	if err := m.Close(); err != nil {
		t.Error(err)
	}
	memo.mu.Lock()
	defer memo.mu.Unlock()
	for memo.live > 0 {
		memo.none.Wait() // for ever, if memory is lost
	}
	t.Logf("%d receives failed", failed)
}

// receiveUntilKilled receives eight tensors at a time, kills the peer when a number of
// them have come, and returns how many receives failed. At least one has to come.
func receiveUntilKilled(t *testing.T, m *verbs.Manager, memo *counted, after int, kill func()) (failed int) {
	t.Helper()
	const atOnce = 8
	type received struct {
		step int64
		r    rendezvous.Result
	}
	got := make(chan received, atOnce)
	step, waiting, came, dead := int64(0), 0, 0, false
	for !dead || waiting > 0 {
		for ; !dead && waiting < atOnce; waiting++ {
			k := step
			step++
			m.Recv(t.Context(), rendezvoustest.TaskA, k, "e", memo.alloc, func(r rendezvous.Result) { got <- received{k, r} })
		}
		x := <-got
		waiting--
		switch {
		case x.r.Err == nil:
			came++
			b := x.r.Tensor.Buffer().Bytes()
			if len(b) != victimSizes[x.step%int64(len(victimSizes))] || b[0] != byte(x.step) || b[len(b)-1] != byte(x.step) {
				t.Errorf("tensor %d has %d bytes, from %d to %d", x.step, len(b), b[0], b[len(b)-1])
			}
			x.r.Tensor.Release()
		case core.CodeOf(x.r.Err) != core.Unavailable:
			t.Errorf("a receive from a peer that is killed: %v", x.r.Err)
		default:
			failed++ // of the predecessor's connection, while none has come
		}
		if !dead && came > after {
			dead = true
			kill()
		}
	}
	return failed
}
