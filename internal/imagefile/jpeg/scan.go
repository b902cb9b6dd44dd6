package jpeg

// maxScans bounds what a small file may ask for: real ones have ten or so.
const maxScans = 1000

// An entropy decodes the coefficients of a scan.
type entropy struct {
	*frame
	scan          scan
	columns, rows int       // of MCUs
	dc, ac        [4]*codes // by component of the scan
	left          int       // MCUs before the next restart
	next          byte      // number of the next restart
	run           int       // blocks that have ended already, in progressive scans
	dry           bool      // the data had run out before this MCU: its blocks are 0
	places        []place   // blocks of an MCU
	quick         bool      // blocks are read by quickBlock

	blocks [maxBlocks][64]int16 // of an MCU, if none are kept
}

// decode reads a scan, until done, after a row of MCUs, says that it is enough.
func (e *entropy) decode(done func() bool) error {
	e.mark = e.pos
	for y := range e.rows {
		for x := range e.columns {
			if e.idle() {
				continue
			}
			if !e.restarted() || !e.mcu(x, y) {
				return e.err
			}
			e.mark = e.pos
		}
		if done() {
			break
		}
	}
	return nil
}

// idle goes past an MCU that changes no coefficients, as the data have run out before it:
// small files may have very many of these, in each of their scans.
func (e *entropy) idle() bool {
	if !e.multi || !e.starved || e.restart > 0 && e.left == 0 {
		return false
	}
	e.left--
	return true
}

// restarted goes past a restart if there has to be one.
func (e *entropy) restarted() bool {
	if e.restart == 0 {
		return true
	}
	if e.left > 0 {
		e.left--
		return true
	}
	e.dropBits()
	if !e.readRestart() {
		return false
	}
	for _, c := range e.scan.components {
		c.pred = 0
	}
	e.run, e.left = 0, e.restart-1
	if e.marker == 0 {
		e.starved = false
	}
	return true
}

// readRestart reads the restart that has to come now. Another one is skipped if
// it seems to be older, and taken for what has to come if it is far off; else
// the data up to it are taken for lost.
func (e *entropy) readRestart() bool {
	want := markerRST0 + e.next
	e.next = (e.next + 1) & 7
	for {
		if e.marker == 0 {
			var ok bool
			if e.marker, ok = e.nextMarker(); !ok {
				return false
			}
		}
		m := e.marker
		isRestart := m >= markerRST0 && m <= markerRST7
		ahead := (m - want) & 7
		switch {
		case m == want, isRestart && ahead > 2 && ahead < 6:
			e.marker = 0
			return true
		case m < markerSOF0, isRestart && ahead >= 6:
			e.marker = 0
		default:
			return true
		}
	}
}

// A place is where an MCU has a block of a component.
type place struct {
	component    *component
	at           int // of the component in the scan
	x, y         int // of the block in the MCU
	across, down int // blocks of the component in an MCU
}

// places returns those of an MCU, in the order of files.
func (s *scan) places() (list []place) {
	if len(s.components) == 1 {
		return []place{{component: s.components[0], across: 1, down: 1}}
	}
	for i, c := range s.components {
		for v := range c.v {
			for h := range c.h {
				list = append(list, place{c, i, h, v, c.h, c.v})
			}
		}
	}
	return list
}

// mcu reads the blocks of an MCU, and transforms them if they are not kept.
func (e *entropy) mcu(x, y int) bool {
	e.dry = e.starved
	if e.multi {
		return e.hurry(x, y) || e.readBlocks(x, y)
	}
	clear(e.blocks[:len(e.places)])
	if !e.hurry(x, y) && !e.readBlocks(x, y) {
		return false
	}
	for k := range e.places {
		if p := &e.places[k]; p.component.needed {
			e.transform(&e.blocks[k], p.component, x*p.across+p.x, y*p.down+p.y)
		}
	}
	return true
}

// readBlocks reads the blocks of an MCU.
func (e *entropy) readBlocks(x, y int) bool {
	for k := range e.places {
		p := &e.places[k]
		b := &e.blocks[k]
		if e.multi {
			at := ((y*p.down+p.y)*p.component.stride + x*p.across + p.x) * 64
			b = (*[64]int16)(p.component.coefficients[at:])
		}
		if !e.block(b, p) {
			return false
		}
	}
	return true
}

// block reads a block, or what a scan of a progressive image has of it.
func (e *entropy) block(b *[64]int16, p *place) bool {
	dc, ac := e.dc[p.at], e.ac[p.at]
	switch {
	case !e.progressive:
		return e.sequential(b, p.component, dc, ac)
	case e.scan.first == 0:
		return e.progressiveDC(b, p.component, dc)
	case e.scan.high == 0:
		return e.firstAC(b, ac)
	}
	return e.refinedAC(b, ac)
}

// sequential reads a whole block.
func (e *entropy) sequential(b *[64]int16, c *component, dc, ac *codes) bool {
	if e.quick {
		return e.quickBlock(b, c, dc, ac)
	}
	if e.dry {
		return true
	}
	s, ok := e.symbol(dc)
	if !ok {
		return false
	}
	diff, ok := e.signed(uint(s))
	if !ok {
		return false
	}
	c.pred += diff
	b[0] = int16(c.pred)
	for k := 1; k < 64; k++ {
		run, v, more, ok := e.coefficient(ac)
		if !ok {
			return false
		}
		if !more {
			break
		}
		if k += run; v != 0 {
			b[zigzag[k]] = int16(v)
		}
	}
	return true
}

// coefficient reads how many zeros come next, and the coefficient after them,
// which may be one more zero; not more tells that the block ends.
func (s *source) coefficient(ac *codes) (run, value int, more, ok bool) {
	code, ok := s.symbol(ac)
	run = int(code >> 4)
	n := uint(code & 15)
	if n == 0 || !ok {
		return run, 0, run == 15, ok
	}
	value, ok = s.signed(n)
	return run, value, true, ok
}
