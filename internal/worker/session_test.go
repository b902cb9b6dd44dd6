package worker

import (
	"context"
	"testing"

	"github.com/gorge-tf/gorge/internal/pass"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/pb"
)

// A counted session assigns 1 to the variable v and reads it.
type counted struct {
	*testSession
	assign, read string
}

func openCounted(t *testing.T, w *Worker, req *pb.CreateWorkerSessionRequest) counted {
	t.Helper()
	s := openSession(t, w, req)
	return counted{s,
		s.register(adder(), pass.Signature{Targets: []string{"v/Assign"}}),
		s.register(adder(), pass.Signature{Fetches: []string{"v/Read/ReadVariableOp:0"}})}
}

func (c counted) value() (float32, error) {
	v, err := c.run(c.read, nil, "v/Read/ReadVariableOp:0")
	if err != nil {
		return 0, err
	}
	return v[0], nil
}

// Sessions share the worker's variables, isolated ones have their own.
func TestIsolation(t *testing.T) {
	w := newWorker(t)
	a := openCounted(t, w, &pb.CreateWorkerSessionRequest{SessionHandle: "a"})
	b := openCounted(t, w, &pb.CreateWorkerSessionRequest{SessionHandle: "b"})
	i := openCounted(t, w, &pb.CreateWorkerSessionRequest{SessionHandle: "i", IsolateSessionState: true})
	if _, err := a.run(a.assign, nil); err != nil {
		t.Fatal(err)
	}
	if v, err := b.value(); v != 1 || err != nil {
		t.Errorf("another session reads %v, %v, want 1", v, err)
	}
	if _, err := i.value(); core.CodeOf(err) != core.FailedPrecondition {
		t.Errorf("an isolated session reads %v, want a FailedPrecondition error", err)
	}
	if _, err := i.run(i.assign, nil); err != nil {
		t.Fatal(err)
	}
	if _, err := w.CleanupAll(t.Context(), &pb.CleanupAllRequest{}); err != nil {
		t.Fatal(err)
	}
	if _, err := b.value(); core.CodeOf(err) != core.FailedPrecondition {
		t.Errorf("after CleanupAll a session reads %v, want a FailedPrecondition error", err)
	}
	if v, err := i.value(); v != 1 || err != nil {
		t.Errorf("after CleanupAll an isolated session reads %v, %v, want 1", v, err)
	}
}

func TestSessionsEnd(t *testing.T) {
	w := newWorker(t)
	del := &pb.DeleteWorkerSessionRequest{SessionHandle: "a"}
	if _, err := w.DeleteWorkerSession(t.Context(), del); err != nil {
		t.Errorf("deleting a session that is not there: %v", err)
	}
	s := openCounted(t, w, &pb.CreateWorkerSessionRequest{SessionHandle: "a"})
	if _, err := w.DeleteWorkerSession(t.Context(), del); err != nil {
		t.Fatal(err)
	}
	if _, err := s.value(); core.CodeOf(err) != core.Aborted {
		t.Errorf("a step of a deleted session = %v, want an Aborted error", err)
	}
	_, err := w.CreateWorkerSession(t.Context(), &pb.CreateWorkerSessionRequest{})
	if core.CodeOf(err) != core.InvalidArgument || core.AsError(err).Message() != "Session must be non-empty." {
		t.Errorf("a session without a handle = %v", err)
	}
	propagated := &pb.CreateWorkerSessionRequest{SessionHandle: "c", ServerDef: &pb.ServerDef{Cluster: &pb.ClusterDef{Job: []*pb.JobDef{{Name: "mine"}}}}}
	if _, err := w.CreateWorkerSession(t.Context(), propagated); core.CodeOf(err) != core.Unimplemented {
		t.Errorf("a session with a cluster of its own = %v, want an Unimplemented error", err)
	}
}

// Sessions of a master that has restarted are closed when it comes back, and
// their steps with them, cleaned up or not.
func TestMasterRestarts(t *testing.T) {
	w := newWorker(t)
	const master = "/job:worker/replica:0/task:1"
	old := openCounted(t, w, &pb.CreateWorkerSessionRequest{SessionHandle: "old", MasterTask: master, MasterIncarnation: 1})
	other := openCounted(t, w, &pb.CreateWorkerSessionRequest{SessionHandle: "other", MasterTask: task, MasterIncarnation: 5})
	wait := old.register(adder(), pass.Signature{Targets: []string{"wait"}})
	ended := make(chan error, 1)
	go func() { _, err := w.RunGraph(context.Background(), old.request(wait, nil)); ended <- err }()
	<-started
	same := openCounted(t, w, &pb.CreateWorkerSessionRequest{SessionHandle: "same", MasterTask: master, MasterIncarnation: 1})
	next := openCounted(t, w, &pb.CreateWorkerSessionRequest{SessionHandle: "new", MasterTask: master, MasterIncarnation: 2})
	if err := <-ended; core.CodeOf(err) != core.Aborted {
		t.Errorf("the old session's step = %v, want an Aborted error", err)
	}
	if n := w.env.Rendezvous.Len(); n != 0 {
		t.Errorf("%d steps of the old session are left", n)
	}
	for name, c := range map[string]struct {
		s     counted
		alive bool
	}{"old": {old, false}, "same": {same, false}, "new": {next, true}, "other": {other, true}} {
		_, err := c.s.run(c.s.assign, nil)
		if alive := err == nil; alive != c.alive {
			t.Errorf("session %s: %v, want it alive: %v", name, err, c.alive)
		}
	}
}

// Masters that open no sessions share one, which every handle means.
func TestLegacyMasters(t *testing.T) {
	w := newWorker(t)
	g := adder()
	def := definition(t, w, g, pass.Signature{Targets: []string{"v/Assign"}})
	resp, err := w.RegisterGraph(t.Context(), &pb.RegisterGraphRequest{SessionHandle: "unheard of", GraphDef: def})
	if err != nil {
		t.Fatal(err)
	}
	run := &pb.RunGraphRequest{SessionHandle: "another", GraphHandle: resp.GetGraphHandle(), StepId: 1}
	if _, err := w.RunGraph(t.Context(), run); err != nil {
		t.Error(err)
	}
	drop := &pb.DeregisterGraphRequest{GraphHandle: resp.GetGraphHandle()}
	if _, err := w.DeregisterGraph(t.Context(), drop); err != nil {
		t.Error(err)
	}
	if _, err := w.DeregisterGraph(t.Context(), drop); core.CodeOf(err) != core.Aborted {
		t.Errorf("dropping a graph twice = %v, want an Aborted error", err)
	}
	if _, err := w.RunGraph(t.Context(), run); core.CodeOf(err) != core.Aborted {
		t.Errorf("running a dropped graph = %v, want an Aborted error", err)
	}
}

func TestGetStatus(t *testing.T) {
	w := newWorker(t)
	resp, err := w.GetStatus(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if n := len(resp.GetDeviceAttributes()); n != 2 {
		t.Fatalf("%d devices, want 2", n)
	}
	seen := map[uint64]bool{0: true}
	for i, d := range resp.GetDeviceAttributes() {
		want := task + "/device:CPU:" + string(rune('0'+i))
		if d.GetName() != want || d.GetDeviceType() != "CPU" || seen[d.GetIncarnation()] {
			t.Errorf("device %d = %v, want %s, a CPU with an incarnation of its own", i, d, want)
		}
		seen[d.GetIncarnation()] = true
	}
}

// Names in a request stand for themselves: the empty one is not the default
// container's.
func TestCleanupAllTakesNamesAsTheyAre(t *testing.T) {
	w := newWorker(t)
	s := openCounted(t, w, &pb.CreateWorkerSessionRequest{SessionHandle: "s"})
	if _, err := s.run(s.assign, nil); err != nil {
		t.Fatal(err)
	}
	if _, err := w.CleanupAll(t.Context(), &pb.CleanupAllRequest{Container: []string{"", "unknown"}}); err != nil {
		t.Fatal(err)
	}
	if v, err := s.value(); v != 1 || err != nil {
		t.Errorf("after other containers have been cleared the variable reads %v, %v, want 1", v, err)
	}
}

// A session that its master has given up is not opened: it may have been deleted
// already.
func TestSessionThatIsGivenUp(t *testing.T) {
	w := newWorker(t)
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := w.CreateWorkerSession(ended, &pb.CreateWorkerSessionRequest{SessionHandle: "s"}); err == nil || len(w.sessions) != 0 {
		t.Errorf("CreateWorkerSession = %v with %d sessions, want an error and none", err, len(w.sessions))
	}
}

// Of two clients that open a session of one name at once, the second does not
// put the first one's out of reach.
func TestOneSessionOfAName(t *testing.T) {
	w := newWorker(t)
	req := &pb.CreateWorkerSessionRequest{SessionHandle: "eager"}
	first, err := w.OpenSession(req)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.OpenSession(req); core.CodeOf(err) != core.InvalidArgument {
		t.Errorf("a second session of the name: %v, want an InvalidArgument error", err)
	}
	first.Close(core.Errorf(core.Canceled, "over"))
	if first.Context().Err() == nil {
		t.Error("the first session has not ended with Close")
	}
	again, err := w.OpenSession(req)
	if err != nil {
		t.Fatalf("opening the session once more: %v", err)
	}
	again.Close(core.Errorf(core.Canceled, "over"))
}
