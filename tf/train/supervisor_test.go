package train_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/ops/io"
	"github.com/gorge-tf/gorge/tf/ops/parsing"
	"github.com/gorge-tf/gorge/tf/ops/summary"
	"github.com/gorge-tf/gorge/tf/pb"
	"github.com/gorge-tf/gorge/tf/record"
	"github.com/gorge-tf/gorge/tf/session"
	events "github.com/gorge-tf/gorge/tf/summary"
	"github.com/gorge-tf/gorge/tf/train"
	"github.com/gorge-tf/gorge/tf/vars"
)

// eventsIn returns what the event files of a directory have, in words, by file.
func eventsIn(t *testing.T, dir string) (files [][]string) {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(dir, "events.*"))
	if err != nil {
		t.Fatal(err)
	}
	sort.Strings(names)
	for _, name := range names {
		var words []string
		r, err := record.Open(name, record.None)
		if err != nil {
			t.Fatal(err)
		}
		for {
			b, err := r.Next()
			if err != nil {
				break
			}
			e := &pb.Event{}
			if err := proto.Unmarshal(b, e); err != nil {
				t.Fatal(err)
			}
			words = append(words, eventText(e))
		}
		r.Close()
		files = append(files, words)
	}
	return files
}

func eventText(e *pb.Event) string {
	switch {
	case e.GetFileVersion() != "":
		return e.GetFileVersion()
	case e.GetGraphDef() != nil:
		return "graph"
	case e.GetMetaGraphDef() != nil:
		return "meta graph"
	case e.GetSessionLog() != nil:
		return fmt.Sprint(e.GetSessionLog().GetStatus(), " ", e.GetStep())
	}
	var values []string
	for _, v := range e.GetSummary().GetValue() {
		values = append(values, fmt.Sprint(v.GetTag(), "=", v.GetSimpleValue()))
	}
	return strings.Join(values, " ")
}

func newSupervisor(t *testing.T, g *tf.Graph, o train.SupervisorOptions) *train.Supervisor {
	t.Helper()
	sv, err := train.NewSupervisor(context.Background(), g, o) // stopped when the test's context has ended
	if err != nil {
		t.Fatal(err)
	}
	return sv
}

// prepared returns a session that ends with the test.
func prepared(t *testing.T, sv *train.Supervisor) *session.Session {
	t.Helper()
	s, err := sv.PrepareSession(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := sv.Stop(); err != nil {
			t.Error(err)
		}
		s.Close()
	})
	return s
}

// TestManagedSession: what the function returns ends training, the end of input well
// (testBasics, testManagedSession, …UserError, …IgnoreOutOfRangeError).
func TestManagedSession(t *testing.T) {
	user := errors.New("failing here")
	for _, c := range []struct{ give, want error }{{nil, nil}, {user, user}, {tf.Errorf(tf.OutOfRange, "all done"), nil}, {train.ErrStop, nil}} {
		g := tf.NewGraph()
		one := ops.Scalar(g, float32(1))
		sv := newSupervisor(t, g, train.SupervisorOptions{LogDir: t.TempDir()})
		runs := 0
		err := sv.Managed(t.Context(), func(ctx context.Context, s *session.Session) error {
			for range 3 {
				if _, err := s.Run(ctx, nil, one); err != nil {
					return err
				}
				runs++
			}
			return c.give
		})
		if err != c.want && !errors.Is(err, c.want) || runs != 3 || !sv.ShouldStop() {
			t.Errorf("given %v: %v, %d runs", c.give, err, runs)
		}
	}
}

// threeSummaries adds c1, c2 and c3.
func threeSummaries(g *tf.Graph) tf.Output {
	for i := range 3 {
		summary.Scalar(fmt.Sprint("c", i+1), ops.Scalar(g, float32(i+1)))
	}
	return summary.MergeAll(g)
}

// TestSupervisorWriter closes the event file between sessions, or keeps it
// (testManagedSession[DoNot]KeepSummaryWriter, testChiefCanWriteEvents,
// testNoLogdirButExplicitSummaryWriter).
func TestSupervisorWriter(t *testing.T) {
	const version, values = "brain.Event:2", "c1=1 c2=2 c3=3"
	once := []string{version, "graph", "meta graph", values, "STOP 0"}
	for name, want := range map[string][][]string{
		"close": {once, once}, "keep": {{version, "graph", "meta graph", values, values}}, "given": {once, once},
	} {
		g, dir := tf.NewGraph(), t.TempDir()
		all := threeSummaries(g)
		o := train.SupervisorOptions{LogDir: dir, NoServices: true, KeepWriter: name == "keep"}
		if name == "given" {
			w, err := events.NewFileWriter(dir)
			if err != nil {
				t.Fatal(err)
			}
			o.LogDir, o.Writer = "", w
		}
		sv := newSupervisor(t, g, o)
		for range 2 {
			err := sv.Managed(t.Context(), func(ctx context.Context, s *session.Session) error {
				out, err := s.Run(ctx, nil, all)
				if err != nil {
					return err
				}
				return sv.SummaryComputed(ctx, s, out[0])
			})
			if err != nil {
				t.Fatal(err)
			}
		}
		if err := sv.Writer().Close(); err != nil {
			t.Fatal(err)
		}
		if got := eventsIn(t, dir); fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%s: the files have %v, want %v", name, got, want)
		}
	}
}

// TestSupervisorWithoutWriter (testNonChiefCannotWriteEvents, testNoLogdirButWantSummary,
// testLogdirButExplicitlyNoSummaryWriter, testNoLogdirSucceeds).
func TestSupervisorWithoutWriter(t *testing.T) {
	for name, o := range map[string]train.SupervisorOptions{"worker": {Worker: true}, "no directory": {}, "no writer": {LogDir: t.TempDir(), NoWriter: true}} {
		g := tf.NewGraph()
		if name == "no writer" {
			tf.NewVariable(ops.Const(g, []float32{1}), tf.VariableOptions{Name: "foo"})
		}
		all := threeSummaries(g)
		sv := newSupervisor(t, g, o)
		s := prepared(t, sv)
		out, err := s.Run(t.Context(), nil, all)
		if err != nil {
			t.Fatal(err)
		}
		if err := sv.SummaryComputed(t.Context(), s, out[0]); !says(err, tf.FailedPrecondition, "requires a summary writer") {
			t.Error(name, err)
		}
		if err := sv.StartServices(t.Context(), s); o.Worker != says(err, tf.FailedPrecondition, "Only chief supervisor can start standard services") {
			t.Error(name, err)
		}
		if name == "no writer" {
			awaitFile(t, sv.SavePath()+".index") // is saved all the same
		}
	}
}

// awaitFile waits until a goroutine has written a file.
func awaitFile(t *testing.T, name string) {
	t.Helper()
	for end := time.Now().Add(10 * time.Second); time.Now().Before(end); time.Sleep(time.Millisecond) {
		if _, err := os.Stat(name); err == nil {
			return
		}
	}
	t.Fatalf("%s was not written", name)
}

// csvRows is a pipeline that reads three rows of three numbers, three times.
func csvRows(t *testing.T, g *tf.Graph) []tf.Output {
	t.Helper()
	file := filepath.Join(t.TempDir(), "data.csv")
	if err := writeText(file, "1,2,3\n4,5,6\n7,8,9\n"); err != nil {
		t.Fatal(err)
	}
	names := train.StringInputProducer(ops.Const(g, []string{file}), train.ProducerOptions{Epochs: 3})
	reader := io.TextLineReaderV2(g, 0)
	_, line := io.ReaderReadV2(reader, names.Handle)
	one := ops.Const(g, []int32{1})
	return parsing.DecodeCSV(line, []tf.Output{one, one, one})
}

// TestManagedInput ends with its input, through one queue or two, and with the error of
// the program (testManagedEndOfInput{One,Two}Queue[s], testManagedMainErrorTwoQueues).
func TestManagedInput(t *testing.T) {
	for _, c := range []struct {
		queues, fail int
	}{{1, -1}, {2, -1}, {2, 3}} {
		g := tf.NewGraph()
		rows := csvRows(t, g)
		if c.queues == 2 {
			rows = train.ShuffleBatch(rows, 1, train.BatchOptions{Capacity: 6, MinAfterDequeue: 4})
		}
		failed := errors.New("fail at step 3")
		sv := newSupervisor(t, g, train.SupervisorOptions{LogDir: t.TempDir()})
		n := 0
		err := sv.Managed(t.Context(), func(ctx context.Context, s *session.Session) error {
			for ; !sv.ShouldStop() || c.queues == 2; n++ {
				if n == c.fail {
					return failed
				}
				if _, err := s.Run(ctx, nil, rows[0], rows[1]); err != nil {
					return err
				}
			}
			return nil
		})
		if c.fail < 0 && (err != nil || n != 9) || c.fail >= 0 && !errors.Is(err, failed) {
			t.Errorf("%d queues: %v after %d rows", c.queues, err, n)
		}
	}
}

// TestSupervisorInit (testSessionConfig, testInitOp, testInitFn, testInitOpWithFeedDict,
// testLocalInitOp[ForNonChief], testDefaultGlobalStep).
func TestSupervisorInit(t *testing.T) {
	values := []float32{1, 2, 3}
	check := func(name string, g *tf.Graph, x tf.Output, o train.SupervisorOptions) {
		t.Helper()
		if !o.Worker {
			o.LogDir = t.TempDir()
		}
		out, err := prepared(t, newSupervisor(t, g, o)).Run(t.Context(), nil, x)
		if err != nil || !slices.Equal(tf.Data[float32](out[0]), values) {
			t.Error(name, out, err)
		}
	}
	g := tf.NewGraph()
	g.Device("/cpu:1", func() {
		check("config", g, ops.Const(g, values), train.SupervisorOptions{Session: []session.Option{session.Devices("CPU", 2)}})
	})
	g = tf.NewGraph()
	v := tf.NewVariable(ops.Const(g, values), tf.VariableOptions{})
	check("init op", g, v.Value(), train.SupervisorOptions{})
	g = tf.NewGraph()
	v = tf.NewVariable(ops.Const(g, values), tf.VariableOptions{})
	check("init fn", g, v.Value(), train.SupervisorOptions{Scaffold: &train.Scaffold{
		InitOp: tf.Group(g, "nothing"), InitFn: func(ctx context.Context, _ *train.Scaffold, s *session.Session) error {
			_, err := s.Run(ctx, nil, v.Initializer())
			return err
		},
	}})
	g = tf.NewGraph()
	p := ops.Placeholder(g, tf.Float32, tf.Shape{3})
	v = tf.NewVariable(p, tf.VariableOptions{})
	three, err := tf.FromSlice(values)
	if err != nil {
		t.Fatal(err)
	}
	check("init feeds", g, v.Value(), train.SupervisorOptions{Scaffold: &train.Scaffold{InitFeeds: session.Feeds{p: three}}})
	for _, worker := range []bool{false, true} {
		g = tf.NewGraph()
		v = tf.NewVariable(ops.Const(g, values), tf.VariableOptions{Local: true})
		check("local init", g, v.Value(), train.SupervisorOptions{Worker: worker})
	}
	g = tf.NewGraph()
	tf.NewVariable(ops.Scalar(g, int64(287)), tf.VariableOptions{Name: "global_step"})
	sv := newSupervisor(t, g, train.SupervisorOptions{LogDir: t.TempDir()})
	if step, err := train.StepOf(t.Context(), prepared(t, sv), train.GetGlobalStep(g)); err != nil || step != 287 {
		t.Error(step, err)
	}
}

// TestSupervisorInitFails (testInitOpFails, testInitOpFailsForTransientVariable,
// testSetupFail).
func TestSupervisorInitFails(t *testing.T) {
	for _, local := range []bool{false, true} {
		g := tf.NewGraph()
		v := tf.NewVariable(ops.Scalar(g, float32(1)), tf.VariableOptions{Name: "v", Local: local})
		tf.NewVariable(ops.Scalar(g, float32(1)), tf.VariableOptions{Name: "w", Local: local})
		sc := &train.Scaffold{InitOp: v.Initializer()}
		if local {
			sc = &train.Scaffold{LocalInitOp: v.Initializer()}
		}
		sv := newSupervisor(t, g, train.SupervisorOptions{LogDir: t.TempDir(), Scaffold: sc})
		if _, err := sv.PrepareSession(t.Context()); !says(err, tf.FailedPrecondition, "Variables not initialized: w") {
			t.Error(err)
		}
		if err := sv.Stop(); err != nil {
			t.Error(err)
		}
	}
	for device, fails := range map[string]bool{"": true, "/job:ps": false} {
		g := tf.NewGraph()
		g.Device(device, func() {
			tf.NewVariable(ops.Scalar(g, float32(1)), tf.VariableOptions{Reference: true})
		})
		if _, err := train.NewSupervisor(t.Context(), g, train.SupervisorOptions{Worker: true}); fails != says(err, tf.InvalidArgument, "must have their device set") {
			t.Error(device, err)
		}
	}
}

// TestSupervisorsTogether: a chief restores or initializes, another supervisor on the same
// server finds the variables ready (testReadyForLocalInitOp[RestoreFromCheckpoint]).
func TestSupervisorsTogether(t *testing.T) {
	tm := newTeam(t, 1)
	dir := t.TempDir()
	build := func(worker bool) (*train.Supervisor, *session.Session, [3]tf.Fetchable) {
		g := tf.NewGraph()
		v := tf.NewVariable(ops.Scalar(g, float32(1)), tf.VariableOptions{Name: "v"})
		w := tf.NewVariable(v.Read(), tf.VariableOptions{Name: "w", Local: true})
		more := v.AssignAdd(ops.Scalar(g, float32(1)))
		sv := newSupervisor(t, g, train.SupervisorOptions{
			LogDir: dir, Worker: worker, Target: tm.target(0), RecoveryWait: time.Millisecond,
			Scaffold: &train.Scaffold{ReadyForLocalInitOp: vars.ReportUninitialized(g, v)},
		})
		return sv, prepared(t, sv), [3]tf.Fetchable{v.Value(), w.Value(), more}
	}
	for _, first := range []float32{1, 2} { // the second time from the checkpoint
		chief, s0, at0 := build(false)
		_, s1, at1 := build(true)
		if _, err := s1.Run(t.Context(), nil, at1[2]); err != nil {
			t.Fatal(err)
		}
		for i, s := range []*session.Session{s0, s1} {
			out, err := s.Run(t.Context(), nil, [][3]tf.Fetchable{at0, at1}[i][:2]...)
			if err != nil || out[0].At(0) != first+1 || out[1].At(0) != first {
				t.Error(i, out, err)
			}
		}
		if _, err := chief.Saver().Save(t.Context(), s0, chief.SavePath()); err != nil {
			t.Fatal(err)
		}
	}
}

// TestSupervisorServices write at once when a session begins
// (testStandardServicesWith[out]GlobalStep, testNoQueueRunners).
func TestSupervisorServices(t *testing.T) {
	for _, counted := range []bool{false, true} {
		g, dir := tf.NewGraph(), t.TempDir()
		name, file := "foo", "model.ckpt"
		want := []string{"STOP 0", "brain.Event:2", "graph", "meta graph", "v=1"}
		if counted {
			name, file = "global_step", "model.ckpt-123"
			want = []string{"CHECKPOINT 123", "START 123", "STOP 0", "brain.Event:2", "global_step/sec=0", "graph", "meta graph"}
			tf.NewVariable(ops.Scalar(g, int64(123)), tf.VariableOptions{Name: name})
		} else {
			v := tf.NewVariable(ops.Scalar(g, float32(1)), tf.VariableOptions{Name: name})
			summary.Scalar("v", v.Value())
		}
		sv := newSupervisor(t, g, train.SupervisorOptions{LogDir: dir})
		s, err := sv.PrepareSession(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		awaitFile(t, filepath.Join(dir, file+".index"))
		awaitEvents(t, sv, dir, len(want)-1)
		if err := sv.Stop(); err != nil {
			t.Error(err)
		}
		s.Close()
		got := slices.Concat(eventsIn(t, dir)...)
		if slices.Sort(got); !slices.Equal(got, want) {
			t.Errorf("the file has %q, want %q", got, want)
		}
		if v, err := train.LoadVariable(filepath.Join(dir, file), name); err != nil || !strings.HasPrefix(fmt.Sprint(v.At(0)), "1") {
			t.Error(v, err)
		}
	}
}

// awaitEvents waits for n events.
func awaitEvents(t *testing.T, sv *train.Supervisor, dir string, n int) {
	t.Helper()
	for end := time.Now().Add(10 * time.Second); time.Now().Before(end); time.Sleep(time.Millisecond) {
		if err := sv.Writer().Flush(); err != nil {
			t.Fatal(err)
		}
		if len(slices.Concat(eventsIn(t, dir)...)) >= n {
			return
		}
	}
	t.Fatalf("%d events were not written", n)
}

// TestSupervisorRestores with the saver of a MetaGraph (testRestoreFromMetaGraph).
func TestSupervisorRestores(t *testing.T) {
	dir := t.TempDir()
	g := tf.NewGraph()
	tf.NewVariable(ops.Scalar(g, int32(1)), tf.VariableOptions{Name: "v0"})
	sv := newSupervisor(t, g, train.SupervisorOptions{LogDir: dir})
	s := prepared(t, sv)
	if err := sv.Stop(); err != nil { // its saver and that of the other would write the same parts
		t.Fatal(err)
	}
	file, err := sv.Saver().Save(t.Context(), s, sv.SavePath())
	if err != nil {
		t.Fatal(err)
	}
	g = tf.NewGraph()
	saver, err := train.ImportMetaGraph(g, file+".meta", tf.ImportOptions{})
	if err != nil {
		t.Fatal(err)
	}
	sv = newSupervisor(t, g, train.SupervisorOptions{LogDir: dir, Scaffold: &train.Scaffold{Saver: saver}})
	s = prepared(t, sv)
	if out, err := s.Run(t.Context(), nil, tf.Variables(g, tf.GlobalVariables)[0].Value()); err != nil || out[0].At(0) != int32(1) {
		t.Error(out, err)
	}
	if _, err := sv.Saver().Save(t.Context(), s, sv.SavePath()); err != nil {
		t.Error(err)
	}
}

// TestSupervisorAgain (testPrepareSessionAfterStopFor[Non]Chief).
func TestSupervisorAgain(t *testing.T) {
	for _, worker := range []bool{false, true} {
		o := train.SupervisorOptions{Worker: worker}
		if !worker {
			o.LogDir = t.TempDir()
		}
		sv := newSupervisor(t, tf.NewGraph(), o)
		for range 2 {
			s, err := sv.PrepareSession(t.Context())
			if err != nil || sv.ShouldStop() {
				t.Fatal(err)
			}
			if err := errors.Join(sv.Stop(), s.Close()); err != nil || !sv.ShouldStop() {
				t.Error(err)
			}
		}
	}
}

// TestSupervisorRequestStop: Stop returns what training was asked to stop with.
func TestSupervisorRequestStop(t *testing.T) {
	sv, err := train.NewSupervisor(t.Context(), tf.NewGraph(), train.SupervisorOptions{})
	if err != nil {
		t.Fatal(err)
	}
	cause := errors.New("the disk is full")
	sv.RequestStop(cause)
	if !sv.ShouldStop() || !sv.Coordinator().ShouldStop() {
		t.Error("training goes on")
	}
	if err := sv.Stop(); !errors.Is(err, cause) {
		t.Error(err)
	}
}
