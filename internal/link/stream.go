package link

import (
	"sync"

	"google.golang.org/grpc/metadata"
)

// A stream collects what a handler says besides its message.
type stream struct {
	method string

	mu              sync.Mutex
	header, trailer metadata.MD
}

// Method returns the full name of the method that is called.
func (s *stream) Method() string { return s.method }

// SetHeader adds to the headers.
func (s *stream) SetHeader(md metadata.MD) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.header = metadata.Join(s.header, md)
	return nil
}

// SendHeader is SetHeader: headers go with the message.
func (s *stream) SendHeader(md metadata.MD) error { return s.SetHeader(md) }

// SetTrailer adds to the trailers.
func (s *stream) SetTrailer(md metadata.MD) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.trailer = metadata.Join(s.trailer, md)
	return nil
}

func (s *stream) taken() (header, trailer metadata.MD) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.header, s.trailer
}
