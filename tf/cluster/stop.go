package cluster

import (
	"context"
	"errors"
	"time"

	"github.com/gorge-tf/gorge/internal/remote"
	"github.com/gorge-tf/gorge/tf"
)

// patience is how long a stopping server waits for calls that have been told to
// end; for steps it waits twice as long.
const patience = time.Second

// Stop ends the server. It takes no new sessions and steps from then on: clients
// and other tasks get the error Unavailable. Steps that are under way may go on
// for the grace of the configuration; then they are cancelled. Stop returns when
// nothing of the server is left, or, a few seconds after the grace, with the error
// DeadlineExceeded, while kernels that do not end, as they may in a file system
// that does not answer, are still under way. Later calls wait for the first one.
func (s *Server) Stop() error {
	s.mu.Lock()
	first := s.state != isStopped
	s.state = isStopped
	s.mu.Unlock()
	if !first {
		<-s.stopped
		return nil
	}
	close(s.stopping)
	s.health.Shutdown() // for good
	defer close(s.stopped)
	remote.Unserve(s.target, s.service)
	s.drain()
	return s.end()
}

// drain lets steps that are under way come to their end.
func (s *Server) drain() {
	if s.grace <= 0 {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), s.grace)
	defer cancel()
	ended := s.master.Drain(ctx) // whose steps run at the worker, too
	if ended = s.worker.Drain(ctx) && ended; !ended {
		s.log.Warn("steps are cancelled that have not ended in time", "grace", s.grace)
	}
}

// end ends all that is left. Steps end before connections do, so that what
// waits for one gets the reason why it ended.
func (s *Server) end() error {
	var left []error
	until := time.Now().Add(2 * patience)
	for _, part := range []struct {
		what string
		end  func()
	}{
		{"sessions", s.master.Close}, {"eager contexts", s.eager.Close}, {"steps", s.worker.Close},
	} {
		left = append(left, s.within(until, part.what, part.end))
	}
	left = append(left, s.within(time.Now().Add(2*patience), "calls", s.hangUp))
	var closed error
	left = append(left, s.within(until, "connections", func() { closed = errors.Join(s.closeVerbs(), s.channels.Close()) }))
	if err := errors.Join(left...); err != nil {
		return err
	}
	return closed
}

// hangUp ends calls and connections of clients.
func (s *Server) hangUp() {
	deadline := time.AfterFunc(patience, s.grpc.Stop)
	defer deadline.Stop()
	s.links.Stop(patience)
	s.health.End()
	s.grpc.GracefulStop()
	s.serving.Wait()
	s.listener.Close() // which Serve has done unless the server was never started
}

// within waits for f, which ends something, until a time, but a moment at least.
// What hangs, hangs on a goroutine that is left behind.
func (s *Server) within(until time.Time, what string, f func()) error {
	done := make(chan struct{})
	go func() {
		defer close(done)
		f()
	}()
	late := time.NewTimer(max(time.Until(until), patience/10))
	defer late.Stop()
	select {
	case <-done:
		return nil
	case <-late.C:
	}
	s.log.Error("the server leaves things behind that do not end", "what", what)
	return tf.Errorf(tf.DeadlineExceeded, "what a server runs must end when it is told to: %s of %s have not", what, s.task)
}

func (s *Server) closeVerbs() error {
	if s.verbs == nil {
		return nil
	}
	defer s.lending.Wait() // what ends with the channels
	return s.verbs.Close()
}

// Join waits until the server has stopped.
func (s *Server) Join() { <-s.stopped }
