package endurance

import (
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/gorge-tf/gorge/tf"
)

// notable is how long clients may take until they go on before a test says what took
// the time.
const notable = 3 * time.Second

// phases are the calls of a client since its last acknowledged update, and those before
// it.
type phases struct {
	mu        sync.Mutex
	now, last []phase
}

type phase struct {
	what     string
	from, to time.Time
	err      error
}

// add notes a call that has ended.
func (p *phases) add(what string, from time.Time, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.now = append(p.now, phase{what, from, time.Now(), err})
}

// clear begins anew after an update.
func (p *phases) clear() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.now) > 1 { // the update itself is one
		p.last = p.now
	}
	p.now = nil
}

// told says what the last calls were that were not all updates.
func (p *phases) told() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	var b strings.Builder
	for i, c := range p.last {
		var pause time.Duration
		if i > 0 {
			pause = c.from.Sub(p.last[i-1].to)
		}
		fmt.Fprintf(&b, "\n\tafter %v %s for %v: %v", pause.Round(time.Millisecond), c.what, c.to.Sub(c.from).Round(time.Millisecond), tf.CodeOf(c.err))
		if c.err != nil {
			fmt.Fprintf(&b, " (%.160s)", c.err)
		}
	}
	return b.String()
}
