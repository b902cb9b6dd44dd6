package jpeg

import (
	"sync"

	"github.com/gorge-tf/gorge/internal/memory"
)

// A component is one of the planes that an image is made of.
type component struct {
	id, table     byte
	h, v          int // sampling factors
	dc, ac        int // tables of the scan
	pred          int // the last DC coefficient
	size          int // of a block in the output: 8, 4, 2 or 1
	width, height int // of the plane, in samples that count
	columns, rows int // of blocks that count
	stride, tall  int // of blocks with those that fill MCUs up
	needed        bool
	quant         *[64]uint16 // as it was when the component's first scan began
	scaled        *[64]int16  // quant for the fast transform, made when it is needed
	coefficients  []int16     // of all blocks, if there are many scans
	plane         []byte
	pitch         int // bytes between the rows of the plane
}

// A frame is the layout of an image.
type frame struct {
	file
	maxH, maxV   int
	size         int // of a block of the most finely sampled component in the output
	mcusX, mcusY int // of a scan of all components
	multi        bool
	outWidth     int
	outHeight    int
	accurate     bool
	memory       *[]byte // of planes
}

func ceilDiv(a, b int) int { return (a + b - 1) / b }

// layOut finds the sizes of everything, for an output that is ratio times
// smaller.
func (f *frame) layOut(ratio int) {
	f.maxH, f.maxV, f.size = 1, 1, blockSize/ratio
	for _, c := range f.components {
		f.maxH, f.maxV = max(f.maxH, c.h), max(f.maxV, c.v)
	}
	f.mcusX, f.mcusY = ceilDiv(f.width, f.maxH*blockSize), ceilDiv(f.height, f.maxV*blockSize)
	f.outWidth, f.outHeight = ceilDiv(f.width*f.size, blockSize), ceilDiv(f.height*f.size, blockSize)
	for i := range f.components {
		f.layOutComponent(&f.components[i])
	}
	f.multi = f.progressive || len(f.scan.components) < len(f.components)
}

// layOutComponent finds the sizes of a component. One that is sampled coarsely
// is made smaller by less.
func (f *frame) layOutComponent(c *component) {
	c.size = f.size
	for c.size < blockSize && f.maxH*f.size%(c.h*c.size*2) == 0 && f.maxV*f.size%(c.v*c.size*2) == 0 {
		c.size *= 2
	}
	c.width = ceilDiv(f.width*c.h*c.size, f.maxH*blockSize)
	c.height = ceilDiv(f.height*c.v*c.size, f.maxV*blockSize)
	c.columns = ceilDiv(f.width*c.h, f.maxH*blockSize)
	c.rows = ceilDiv(f.height*c.v, f.maxV*blockSize)
	c.stride, c.tall = f.mcusX*c.h, f.mcusY*c.v
	c.pitch = c.stride * c.size
}

// prepare checks and gets what a scan needs.
func (f *frame) prepare() (*entropy, error) {
	e := &entropy{frame: f, scan: f.scan, left: f.restart, columns: f.mcusX, rows: f.mcusY}
	if c := f.scan.components[0]; len(f.scan.components) == 1 {
		e.columns, e.rows = c.columns, c.rows
	}
	if e.places = f.scan.places(); len(e.places) > maxBlocks {
		return nil, errInvalid
	}
	for i, c := range f.scan.components {
		c.pred = 0
		if c.quant == nil {
			if c.table > 3 || f.file.quant[c.table] == nil {
				return nil, errInvalid
			}
			q := *f.file.quant[c.table]
			c.quant = &q
		}
		if err := e.findCodes(i, c); err != nil {
			return nil, err
		}
	}
	if f.progressive && !f.scan.isProgression() {
		return nil, errInvalid
	}
	f.dropBits()
	f.starved = false
	return e, nil
}

// isProgression reports whether a progressive image may have the scan.
func (s *scan) isProgression() bool {
	switch {
	case s.first == 0 && s.end != 0,
		s.first > 0 && (s.end < s.first || s.end > 63 || len(s.components) != 1),
		s.high != 0 && s.low != s.high-1,
		s.low > 13:
		return false
	}
	return true
}

// findCodes makes the codes of the scan's component i.
func (e *entropy) findCodes(i int, c *component) (err error) {
	needDC := !e.progressive || e.scan.first == 0 && e.scan.high == 0
	needAC := !e.progressive || e.scan.first > 0
	if needDC {
		if e.dc[i], err = e.codes(c.dc, &e.file.dc, true); err != nil {
			return err
		}
	}
	if needAC {
		e.ac[i], err = e.codes(c.ac, &e.file.ac, false)
	}
	return err
}

// codes makes the codes of a table. Files without tables mean the usual ones, unless
// they are progressive.
func (f *file) codes(at int, tables *[4]*huffman, dc bool) (*codes, error) {
	if at > 3 {
		return nil, errInvalid
	}
	h := tables[at]
	if h == nil && at < 2 && !f.progressive {
		h = usual(at, dc)
	}
	if h == nil {
		return nil, errInvalid
	}
	if h.codes == nil {
		var err error
		if h.codes, err = newCodes(h, dc); err != nil {
			return nil, err
		}
	}
	return h.codes, nil
}

// usedPlanes holds the memory of planes for the next file. It is used as it is: what is
// read of planes has been written before.
var usedPlanes sync.Pool // of *[]byte

// allocate gets memory for the components' samples, and for their coefficients
// if scans come one after the other.
func (f *frame) allocate() {
	total := 0
	for i := range f.components {
		c := &f.components[i]
		if c.needed {
			total += c.samples()
		}
		if f.multi {
			c.coefficients = memory.Make[int16](c.stride * c.tall * 64)
		}
	}
	f.memory, _ = usedPlanes.Get().(*[]byte)
	if f.memory == nil || len(*f.memory) < total {
		b := memory.Make[byte](total)
		f.memory = &b
	}
	rest := *f.memory
	for i := range f.components {
		if c := &f.components[i]; c.needed {
			c.plane, rest = rest[:c.samples():c.samples()], rest[c.samples():]
		}
	}
}

// samples returns how many bytes the plane has.
func (c *component) samples() int { return c.stride * c.size * c.tall * c.size }

// free gives the memory of planes back.
func (f *frame) free() {
	for i := range f.components {
		f.components[i].plane = nil
	}
	usedPlanes.Put(f.memory)
	f.memory = nil
}
