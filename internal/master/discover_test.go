package master

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/pb"
)

func TestFilterTasks(t *testing.T) {
	all := []string{ps, "/job:ps/replica:0/task:1", work0, work1}
	for name, c := range map[string]struct {
		filters []string
		want    []string
	}{
		"none":                   {nil, all},
		"a job":                  {[]string{"/job:ps"}, []string{ps, "/job:ps/replica:0/task:1", work0}},
		"a task":                 {[]string{"/job:worker/task:1"}, []string{work0, work1}},
		"several":                {[]string{"/job:ps/task:0", "/job:worker/task:1"}, []string{ps, work0, work1}},
		"nobody but the master":  {[]string{"/job:other"}, []string{work0}},
		"a task of whatever job": {[]string{"/task:1"}, []string{"/job:ps/replica:0/task:1", work0, work1}},
	} {
		f, err := parseFilters(c.filters)
		got := f.tasks(all, work0)
		if err != nil || !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, %v; want %v", name, got, err, c.want)
		}
	}
	if _, err := parseFilters([]string{"ps:0"}); core.CodeOf(err) != core.InvalidArgument {
		t.Errorf("a malformed filter = %v, want an InvalidArgument error", err)
	}
}

// Filters that name devices leave out the others, but none of the master's task.
func TestFilterDevices(t *testing.T) {
	devices := func(task string) []*pb.DeviceAttributes {
		return []*pb.DeviceAttributes{{Name: task + "/device:CPU:0"}, {Name: task + "/device:CPU:1"}, {Name: task + "/device:FAKE:0"}}
	}
	for filter, want := range map[string]int{"": 6, "/job:ps": 6, "/device:CPU:1": 4, "/job:ps/device:CPU:*": 5, "/job:ps/device:GPU:0": 3, "/job:worker/device:CPU:0": 3} {
		members := []member{{task: work0, devices: devices(work0)}, {task: ps, devices: devices(ps)}}
		f, err := parseFilters(strings.Fields(filter))
		if err != nil {
			t.Fatal(err)
		}
		f.devices(members, work0)
		if got := len(members[0].devices) + len(members[1].devices); got != want || len(members[0].devices) != 3 {
			t.Errorf("filter %q leaves %d devices and %d of the master's, want %d and all 3", filter, got, len(members[0].devices), want)
		}
	}
}

// late is a worker that answers after a while.
type late struct {
	Worker
	after time.Duration
	name  string
	err   error
}

func (l late) GetStatus(ctx context.Context, _ *pb.GetStatusRequest) (*pb.GetStatusResponse, error) {
	select {
	case <-time.After(l.after):
		return &pb.GetStatusResponse{DeviceAttributes: []*pb.DeviceAttributes{{Name: l.name, Incarnation: 5}}}, l.err
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// A barred worker accepts no connection, and knows why.
type barred struct {
	late
	why string
}

func (b barred) Unreached(context.Context) string { return b.why }

// crowd finds workers by task.
type crowd map[string]Worker

func (c crowd) Tasks() []string { return nil }

func (c crowd) Worker(task string) (Worker, error) {
	if w := c[task]; w != nil {
		return w, nil
	}
	return nil, errors.New("nobody is " + task)
}

// Discovery waits for the last task, and says every ten seconds for whom.
func TestDiscoverWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		workers := crowd{
			ps:    late{after: time.Second, name: ps + "/device:CPU:0"},
			work0: barred{late{after: 25 * time.Second, name: "/job:localhost/replica:0/task:7/device:CPU:0"}, "no certificate"},
		}
		begin := time.Now()
		members, err := discover(t.Context(), workers, []string{ps, work0}, slog.New(slog.NewTextHandler(&log, nil)))
		if err != nil {
			t.Fatal(err)
		}
		if took := time.Since(begin); took != 25*time.Second {
			t.Errorf("discovery took %v, want 25s", took)
		}
		if n := strings.Count(log.String(), "CreateSession still waiting for response from worker: "+work0+" (no certificate)"); n != 2 {
			t.Errorf("%d reminders of %s, want 2:\n%s", n, work0, log.String())
		}
		if strings.Contains(log.String(), ps) {
			t.Errorf("reminders of a worker that has answered:\n%s", log.String())
		}
		if got, want := members[1].devices[0].GetName(), work0+"/device:CPU:0"; got != want {
			t.Errorf("device of a task started under another name = %s, want %s", got, want)
		}
	})
}

func TestDiscoverFails(t *testing.T) {
	broken := errors.New("broken")
	deadline := func(t *testing.T) (context.Context, context.CancelFunc) {
		return context.WithTimeout(t.Context(), time.Minute)
	}
	for name, c := range map[string]struct {
		workers crowd
		want    error
	}{
		"one that fails ends the wait for others": {crowd{ps: late{after: time.Second, err: broken}, work0: late{after: time.Hour}}, broken},
		"the caller has no more time":             {crowd{ps: late{after: time.Hour}, work0: late{name: "/job:a"}}, errors.New("CreateSession still waiting for response from worker: " + ps)},
		"one that cannot be reached says why": {crowd{ps: barred{late{after: time.Hour}, "no certificate"}, work0: late{after: time.Hour}},
			errors.New("CreateSession still waiting for response from worker: " + ps + " (no certificate), " + work0)},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := deadline(t)
				defer cancel()
				_, err := discover(ctx, c.workers, []string{ps, work0}, slog.New(slog.DiscardHandler))
				if err == nil || !strings.HasSuffix(err.Error(), c.want.Error()) || ctx.Err() != nil {
					t.Errorf("discover = %v, want %v", err, c.want)
				}
			})
		})
	}
	if _, err := discover(t.Context(), crowd{}, []string{ps}, nil); err == nil || !strings.Contains(err.Error(), ps) {
		t.Errorf("a task that nobody knows = %v, want an error that names it", err)
	}
}

// deaf is a worker that does not answer when sessions end.
type deaf struct{ Worker }

func (deaf) DeleteWorkerSession(ctx context.Context, _ *pb.DeleteWorkerSessionRequest) (*pb.DeleteWorkerSessionResponse, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

// A worker that does not answer holds up the end of many sessions no longer than
// that of one.
func TestSessionsCloseTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := New(Env{Task: work0})
		for _, handle := range []string{"a", "b", "c", "d"} {
			s := &session{m: m, cluster: &membership{}, handle: handle, log: m.env.Log, members: []member{{task: ps, worker: deaf{}}}}
			s.ctx, s.cancel = context.WithCancelCause(m.ctx)
			m.sessions[handle] = s
		}
		began := time.Now()
		if err := m.closeSessions(); err != nil {
			t.Fatal(err)
		}
		if d := time.Since(began); d > cleanupTimeout {
			t.Errorf("closing the sessions took %v, want no more than %v", d, cleanupTimeout)
		}
		m.Close()
	})
}
