package threads

// mostBegun are the calls of Begin that may be under way at once, of all pools: the other
// slots are left to those that wait.
const mostBegun = slots / 4

// Begin does what ParallelFor does on other goroutines, while the caller does something
// else. It returns a function that reports whether all calls have returned; told to wait it
// takes part in what is left, returns when they have and passes on the first panic. It has
// to be told so once, as the last thing. Nil: there is no goroutine for them, and nothing
// has begun.
func (p *Pool) Begin(n, grain int, f func(lo, hi int)) (ended func(wait bool) bool) {
	j := &job{f: f, n: n, chunks: max(1, chunks(n, grain)), limit: p.limit - 1}
	if n <= 0 || j.limit <= 0 || !p.set.begin(j) {
		return nil
	}
	return func(wait bool) bool {
		if wait {
			p.set.conclude(j)
		}
		return int(j.done.Load()) == j.chunks
	}
}

// begin shows the job to the workers, and wakes some for it if too few look for work.
func (s *set) begin(j *job) bool {
	if s.begun.Add(1) > mostBegun {
		s.begun.Add(-1)
		return false
	}
	j.all.Add(j.chunks)
	if !s.place(j) {
		s.begun.Add(-1)
		return false
	}
	s.offered.Add(1)
	if missing := min(j.limit, j.chunks) - int(s.spinning.Load()); missing > 0 {
		s.wakeUp(missing)
	}
	return true
}

// conclude takes part in a job that has begun until it has ended.
func (s *set) conclude(j *job) {
	defer s.begun.Add(-1)
	s.share(j)
	j.wait(&s.waits)
}
