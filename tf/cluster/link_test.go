package cluster_test

import (
	"io"
	"net"
	"sync"
	"testing"
)

// A link is what stands between a task and its callers: connections to its
// address go on to where the task really listens. It can be cut, it can fall
// silent, and it counts what comes through.
type link struct {
	lis net.Listener
	all sync.WaitGroup

	mu     sync.Mutex
	change *sync.Cond // of silent
	to     string     // "": nobody
	silent bool
	conns  map[net.Conn]bool
	seen   int    // pieces of data that callers have sent
	after  int    // of these, trip is called
	trip   func() // nil: never
}

// newLink returns a link that leads nowhere yet. It ends with the test.
func newLink(t testing.TB) *link {
	t.Helper()
	l := &link{lis: listen(t), conns: map[net.Conn]bool{}}
	l.change = sync.NewCond(&l.mu)
	l.all.Go(l.accept)
	t.Cleanup(func() {
		l.lis.Close()
		l.cut()
		l.all.Wait()
	})
	return l
}

func (l *link) address() string { return l.lis.Addr().String() }

func (l *link) accept() {
	for {
		c, err := l.lis.Accept()
		if err != nil {
			return
		}
		l.all.Go(func() { l.join(c) })
	}
}

// join connects a caller to the task.
func (l *link) join(c net.Conn) {
	defer c.Close()
	l.mu.Lock()
	to := l.to
	l.mu.Unlock()
	if to == "" {
		return
	}
	d, err := net.Dial("tcp", to)
	if err != nil {
		return
	}
	defer d.Close()
	if !l.hold(c, d) {
		return
	}
	defer l.drop(c, d)
	back := make(chan struct{})
	go func() {
		defer close(back)
		l.copy(c, d, func() {})
		c.Close()
	}()
	l.copy(d, c, l.count)
	d.Close()
	<-back
}

// hold notes connections of the task as it is now, so that cut ends them.
func (l *link) hold(c, d net.Conn) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.conns[c], l.conns[d] = true, true
	return l.to != ""
}

func (l *link) drop(c, d net.Conn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.conns, c)
	delete(l.conns, d)
}

// copy passes data on, as long as the link is not silent.
func (l *link) copy(to io.Writer, from io.Reader, seen func()) {
	buf := make([]byte, 32<<10)
	for {
		n, err := from.Read(buf)
		if err != nil {
			return
		}
		seen()
		l.mu.Lock()
		for l.silent {
			l.change.Wait()
		}
		l.mu.Unlock()
		if _, err := to.Write(buf[:n]); err != nil {
			return
		}
	}
}

func (l *link) count() {
	l.mu.Lock()
	l.seen++
	trip := l.trip
	if l.seen < l.after {
		trip = nil
	}
	if trip != nil {
		l.trip = nil
	}
	l.mu.Unlock()
	if trip != nil {
		trip()
	}
}

// lead makes the link lead to an address.
func (l *link) lead(to string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.to = to
}

// arm calls trip, once, when callers have sent n more pieces of data.
func (l *link) arm(n int, trip func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.seen, l.after, l.trip = 0, n, trip
}

// hush makes the link accept everything and pass on nothing.
func (l *link) hush() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.silent = true
}

// cut ends all connections, and refuses new ones until the link leads
// somewhere again.
func (l *link) cut() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.to, l.silent = "", false
	l.change.Broadcast()
	for c := range l.conns {
		c.Close()
	}
}
