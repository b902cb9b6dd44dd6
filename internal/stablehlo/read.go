package stablehlo

import (
	"bytes"

	"github.com/gorge-tf/gorge/internal/memory"
)

// Read reads a module from a portable artifact. Data that is damaged is an error of
// [ErrCorrupt]; versions or operations that it does not know are one of
// [ErrUnsupported]. What it returns takes memory in proportion to data, and has every
// value defined before it is used. Large constants keep data, which must not be changed.
func Read(data []byte) (*Module, error) {
	r := &reader{budget: 1<<14 + 16*len(data), sets: map[setKey]map[string]Attr{}}
	c := &cursor{r: r, what: "artifact", data: data}
	m := r.artifact(c)
	if r.err != nil {
		return nil, r.err
	}
	return m, nil
}

// ReadString is Read of a string, of which it makes no copy.
func ReadString(s string) (*Module, error) { return Read(memory.BytesOf(s)) }

// The bounds of what is nested: entries of tables in each other, and regions.
const maxDepth = 256

// A reader has what the sections of an artifact refer to.
type reader struct {
	err      error // the first one; see cursor
	version  uint64
	sections [sections]*cursor
	strings  []string
	dialects []string
	names    []opName
	props    []*cursor
	entries  *cursor // the section of attributes and types
	attrs    []entry[Attr]
	types    []entry[Type]
	sets     map[setKey]map[string]Attr

	depth  int // of entries that are being read
	weight int // of the entry that is being read; see entry
	budget int // how many attributes may still be copied, and parts of types compared
}

// magic is how all MLIR bytecode begins.
var magic = []byte("ML\xEFR")

// The versions of MLIR bytecode since which parts of it are what they are.
const (
	dialectVersions  = 1 // dialects may have versions
	isolatedSections = 2 // isolated regions are sections
	useListOrders    = 3 // the order of uses of values is told
	elidedLocations  = 4 // arguments may have no location; the number of names is told
	properties       = 5 // operations have properties
	newestVersion    = 6 // properties have sizes of segments, which VHLO has none of
)

func (r *reader) artifact(c *cursor) *Module {
	if !bytes.HasPrefix(c.data, magic) {
		c.corrupt("an artifact must begin with %q, got %q", magic, c.data[:min(len(c.data), len(magic))])
		return nil
	}
	c.at = len(magic)
	r.version = c.uint()
	if r.version > newestVersion {
		c.unsupported("the version of MLIR bytecode must be at most %d, got %d", newestVersion, r.version)
	}
	producer := c.terminated()
	r.divide(c)
	if r.err != nil {
		return nil
	}
	r.readStrings(r.sections[stringSection])
	r.readProperties(r.sections[propertySection])
	r.readDialects(r.sections[dialectSection])
	r.readEntries(r.sections[offsetSection], r.sections[attrTypeSection])
	m := r.module(r.sections[irSection])
	m.Producer = producer
	return m
}

// terminated reads text that ends with a zero.
func (c *cursor) terminated() string {
	n := bytes.IndexByte(c.data[c.at:], 0)
	if n < 0 {
		c.corrupt("text must end with a zero, got none in %d bytes", c.left())
		return ""
	}
	b := c.bytes(uint64(n) + 1)
	return string(b[:max(len(b)-1, 0)])
}
