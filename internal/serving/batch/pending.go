package batch

import (
	"math"
	"time"

	"github.com/gorge-tf/gorge/tf"
)

// A task is a request, or a part of one, that waits.
type task struct {
	key     string // tasks of different keys are not joined
	rows    int
	since   time.Time
	request *request
	part    int // of the request
}

// pending has the tasks that wait, the oldest first. It decides which run together
// and when, does no I/O and knows no clock.
type pending struct {
	p      Params
	tasks  []*task
	rows   int // of all tasks
	closed bool

	appetite appetite
	free     func() int64 // bytes that are free; nil: memory bounds no batch
}

// add takes all tasks of a request, or none.
func (q *pending) add(tasks []*task) error {
	rows := 0
	for _, t := range tasks {
		rows += t.rows
	}
	if q.closed {
		return tf.Errorf(tf.Unavailable, "the model is being unloaded")
	}
	if room := q.p.MaxRun * min(q.p.MaxBatches, math.MaxInt/q.p.MaxRun); q.rows > 0 && q.rows+rows > room {
		return tf.Errorf(tf.Unavailable, "The batch scheduling queue to which this task was submitted is full; task size is %d but scheduling capacity is only %d (max_enqueued_batches = %d, max_execution_batch_size = %d)",
			rows, max(0, room-q.rows), q.p.MaxBatches, q.p.MaxRun)
	}
	q.tasks = append(q.tasks, tasks...)
	q.rows += rows
	return nil
}

// next returns the tasks that are to run together now. If there are none, wait says
// when to ask again; 0: when something changes.
func (q *pending) next(now time.Time) (tasks []*task, wait time.Duration) {
	chosen, rows, wait := q.choose(now)
	if chosen == nil {
		return nil, wait
	}
	return q.take(chosen, rows), 0
}

// ready reports whether next would return tasks, and wait if not.
func (q *pending) ready(now time.Time) (ok bool, wait time.Duration) {
	chosen, _, wait := q.choose(now)
	return chosen != nil, wait
}

// choose returns the places of the tasks that are to run together now.
func (q *pending) choose(now time.Time) (chosen []int, rows int, wait time.Duration) {
	if len(q.tasks) == 0 {
		return nil, 0, 0
	}
	first := q.tasks[0]
	most := 0 // as many rows as there is memory for; asked for when there is something to join
	for i, t := range q.tasks {
		if t.key != first.key {
			continue
		}
		if rows+t.rows > q.p.MaxRun {
			break
		}
		if len(chosen) == 1 {
			most = q.appetite.most(q.free)
		}
		if len(chosen) > 0 && q.p.rounded(rows+t.rows) > most {
			break
		}
		chosen = append(chosen, i)
		rows += t.rows
	}
	full := rows == q.p.MaxRun || len(chosen) < q.count(first.key)
	if age := now.Sub(first.since); !full && !q.closed && age < q.p.Timeout {
		return nil, 0, q.p.Timeout - age
	}
	return chosen, rows, 0
}

// count returns how many tasks have a key.
func (q *pending) count(key string) (n int) {
	for _, t := range q.tasks {
		if t.key == key {
			n++
		}
	}
	return n
}

// take removes the tasks of some places, which increase.
func (q *pending) take(places []int, rows int) (out []*task) {
	var rest []*task
	for i, t := range q.tasks {
		if len(places) > 0 && places[0] == i {
			out = append(out, t)
			places = places[1:]
			continue
		}
		rest = append(rest, t)
	}
	q.tasks = rest
	q.rows -= rows
	q.appetite.runs(rows)
	return out
}

// done notes that tasks of a batch have been run.
func (q *pending) done(tasks []*task) {
	for _, t := range tasks {
		q.appetite.ends(t.rows)
	}
}

// drop removes the tasks of a request that has given up, and reports whether all of
// its tasks were still waiting.
func (q *pending) drop(r *request) bool {
	var rest []*task
	n := 0
	for _, t := range q.tasks {
		if t.request == r {
			n++
			q.rows -= t.rows
			continue
		}
		rest = append(rest, t)
	}
	q.tasks = rest
	return n == len(r.parts)
}
