package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"
)

// A report is what a task tells of itself, a line of JSON each time.
type report struct {
	Ready    bool    `json:"ready,omitempty"` // the server serves
	Over     string  `json:"over,omitempty"`  // how tensors get to other tasks
	Done     bool    `json:"done,omitempty"`  // the worker has trained its share
	Steps    int     `json:"steps,omitempty"`
	Loss     float32 `json:"loss,omitempty"`
	Received int64   `json:"received,omitempty"` // bytes from other tasks
}

// A process is a task of the cluster.
type process struct {
	name    string
	worker  bool
	cmd     *exec.Cmd
	in      io.Closer // the task ends when it is closed
	over    string    // how its tensors get to other tasks
	reports chan report
	errors  strings.Builder // whole when the process has ended
	end     sync.Once
	err     error // of the process that has ended
}

// startAll starts all tasks and waits until they serve.
func startAll(ctx context.Context, s *settings, addresses []string) ([]*process, error) {
	var all []*process
	for i := range addresses {
		job, task := "worker", i-1
		if i == 0 {
			job, task = "ps", 0
		}
		p, err := start(s, job, task, addresses)
		if err != nil {
			return all, err
		}
		all = append(all, p)
	}
	for _, p := range all {
		if err := p.await(ctx, patience); err != nil {
			return all, err
		}
	}
	return all, nil
}

func start(s *settings, job string, task int, addresses []string) (*process, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	p := &process{name: fmt.Sprintf("%s %d", job, task), worker: job == "worker", reports: make(chan report, 64)}
	p.cmd = exec.Command(self, "-job="+job, fmt.Sprintf("-task=%d", task), "-addresses="+strings.Join(addresses, ","),
		fmt.Sprintf("-workers=%d", s.workers), fmt.Sprintf("-epochs=%d", s.epochs), fmt.Sprintf("-batch=%d", s.batch), fmt.Sprintf("-seed=%d", s.seed), fmt.Sprintf("-steps=%d", s.steps), "-protocol="+s.protocol,
		fmt.Sprintf("-sync=%v", s.sync), fmt.Sprintf("-backup=%d", s.backup), "-certificates="+s.secrets)
	p.cmd.Stderr = &p.errors
	in, err := p.cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	p.in = in
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := p.cmd.Start(); err != nil {
		return nil, err
	}
	go p.read(out)
	return p, nil
}

// read passes on what the process reports, until it ends.
func (p *process) read(out io.Reader) {
	defer close(p.reports)
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		var r report
		if json.Unmarshal(lines.Bytes(), &r) == nil {
			p.reports <- r
		}
	}
}

// await waits for the report that the task serves.
func (p *process) await(ctx context.Context, most time.Duration) error {
	select {
	case r, ok := <-p.reports:
		if !ok || !r.Ready {
			return p.died()
		}
		p.over = r.Over
		return nil
	case <-time.After(most):
		return fmt.Errorf("%s has not started in %v", p.name, most)
	case <-ctx.Done():
		return ctx.Err()
	}
}

// died says why a process has ended by itself.
func (p *process) died() error {
	return fmt.Errorf("%s has ended too early: %w", p.name, errors.Join(p.stop(), errTooEarly))
}

var errTooEarly = errors.New("it was not told to")

// stopAll ends all processes, the workers first, and waits for them.
func stopAll(all []*process) (err error) {
	for i := len(all) - 1; i >= 0; i-- {
		err = errors.Join(err, all[i].stop())
	}
	return err
}

// stop tells the process to end, and waits for that.
func (p *process) stop() error {
	p.end.Do(func() {
		p.in.Close()
		kill := time.AfterFunc(patience, func() { p.cmd.Process.Kill() })
		defer kill.Stop()
		for range p.reports { // until its output ends
		}
		if err := p.cmd.Wait(); err != nil {
			p.err = fmt.Errorf("%s: %w: %s", p.name, err, strings.TrimSpace(p.errors.String()))
		}
	})
	return p.err
}
