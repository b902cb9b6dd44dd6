package link

import (
	"bufio"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// read takes what the peer says until the link ends, and with it all calls.
func (c *Client) read() {
	for {
		if c.br.Buffered() == 0 {
			c.awaitFrame()
		}
		if err := c.next(c.br); err != nil {
			c.end(err)
			break
		}
	}
	c.refuseCalls()
	close(c.ended)
	c.mu.Lock()
	why, calls := c.err, c.calls
	c.calls = nil
	c.mu.Unlock()
	for _, p := range calls {
		c.answer(p, Reply{Err: errEnded(why)})
	}
}

// next takes a frame.
func (c *Client) next(r *bufio.Reader) error {
	h, head, err := readHead(r)
	if err != nil {
		return err
	}
	switch h.kind {
	case kindReply:
		return c.reply(r, h, head)
	case kindGoodbye:
		c.mu.Lock()
		c.leaving = true
		c.mu.Unlock()
		c.refuseCalls()
	case kindPing:
		_ = c.send(newFrame(kindPong, 0, nil, nil), false) // fails only on a link that has ended, whose calls have ended too
	case kindPong:
	default:
		return status.Errorf(codes.Internal, "a link's server must not send frames of kind %d", h.kind)
	}
	_, err = r.Discard(h.body)
	return err
}

// reply reads the answer to a call.
func (c *Client) reply(r *bufio.Reader, h header, head []byte) error {
	o, err := parseOutcome(head)
	if err != nil {
		return err
	}
	c.mu.Lock()
	p := c.calls[h.call]
	if p != nil {
		p.filling = true
		c.remove(h.call)
	}
	c.mu.Unlock()
	if p == nil {
		_, err := r.Discard(h.body)
		return err
	}
	got := Reply{Err: o.err(), Header: o.header, Trailer: o.trailer}
	if got.Err != nil {
		_, err = r.Discard(h.body)
	} else {
		got.Err, err = c.fill(r, p, h)
	}
	if err != nil { // the link ends here
		got = Reply{Err: errEnded(err)}
	}
	c.answer(p, got)
	return err
}

// fill reads a message: wrong says why it is none, err that the link has ended.
func (c *Client) fill(r *bufio.Reader, p *call, h header) (wrong, err error) {
	if b, ok := p.resp.(BodyReader); ok {
		return nil, b.ReadBody(r, h.body)
	}
	body, err := readBody(r, h, unbounded)
	if err != nil {
		return nil, err
	}
	defer body.Free()
	if !c.decode(p) {
		return nil, nil
	}
	if err := c.codec.Unmarshal(body, p.resp); err != nil {
		return status.Errorf(codes.Internal, "decoding a reply: %v", err), nil
	}
	return nil, nil
}

// decode reports whether the caller still waits for a message, and makes it wait for
// its end.
func (c *Client) decode(p *call) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	p.decoding = !p.left
	return p.decoding
}

func (c *Client) answer(p *call, r Reply) {
	c.mu.Lock()
	p.answered = true
	left, stop := p.left, p.stop
	c.mu.Unlock()
	if stop != nil {
		stop()
	}
	if !left {
		p.done(r)
		return
	}
	if b, ok := p.resp.(BodyReader); ok && r.Err == nil {
		b.Abandon()
	}
}

// unbounded lets bodies of replies take what they need: a client trusts its server.
func unbounded(int) error { return nil }
