package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"time"
)

// A board shows how the tasks get on.
type board struct {
	out   io.Writer
	live  bool // out is a terminal: the table is drawn over the one before
	drawn bool
	rows  []row
}

type row struct {
	*process
	last     report
	begun    time.Time // of training
	finished time.Duration
}

func newBoard(out io.Writer, tasks []*process) *board {
	b := &board{out: out}
	if f, ok := out.(*os.File); ok {
		if info, err := f.Stat(); err == nil {
			b.live = info.Mode()&os.ModeCharDevice != 0
		}
	}
	for _, p := range tasks {
		b.rows = append(b.rows, row{process: p})
	}
	return b
}

// watch draws the table every second until all workers have trained.
func (b *board) watch(ctx context.Context) error {
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	drawn := time.Now()
	for {
		over, err := b.read()
		if err != nil {
			return err
		}
		if over || time.Since(drawn) >= time.Second {
			b.draw()
			drawn = time.Now()
		}
		if over {
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
		}
	}
}

// read takes up the reports that have come. It reports whether all workers have
// trained.
func (b *board) read() (over bool, err error) {
	over = true
	for i := range b.rows {
		r := &b.rows[i]
		for waiting := true; waiting; {
			select {
			case got, ok := <-r.reports:
				if !ok {
					return false, r.died()
				}
				r.take(got)
			default:
				waiting = false
			}
		}
		over = over && (!r.worker || r.finished > 0)
	}
	return over, nil
}

func (r *row) take(got report) {
	if got.Steps > 0 && r.begun.IsZero() {
		r.begun = time.Now()
	}
	if got.Done {
		r.finished = max(time.Since(r.begun), 1)
		got.Steps, got.Loss = r.last.Steps, r.last.Loss
	}
	r.last = got
}

// speed is how many steps a second a worker does.
func (r *row) speed() float64 {
	took := r.finished
	if took == 0 {
		took = time.Since(r.begun)
	}
	if r.begun.IsZero() || took <= 0 {
		return 0
	}
	return float64(r.last.Steps) / took.Seconds()
}

func (b *board) draw() {
	if b.live && b.drawn {
		fmt.Fprintf(b.out, "\x1b[%dA", len(b.rows)+1)
	}
	b.drawn = true
	fmt.Fprintf(b.out, "%-10s %7s %9s %8s %14s\n", "task", "steps", "steps/s", "loss", "MB received")
	for i := range b.rows {
		r := &b.rows[i]
		mb := float64(r.last.Received) / 1e6
		if !r.worker {
			fmt.Fprintf(b.out, "%-10s %7s %9s %8s %14.1f\n", r.name, "", "", "", mb)
			continue
		}
		fmt.Fprintf(b.out, "%-10s %7d %9.0f %8.4f %14.1f\n", r.name, r.last.Steps, r.speed(), r.last.Loss, mb)
	}
}
