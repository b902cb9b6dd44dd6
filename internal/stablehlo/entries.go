package stablehlo

// An entry is an attribute or a type of an artifact's tables. Entries refer to each
// other and are read when something refers to them: unread → reading → read. A
// reference to one that is being read is a cycle.
type entry[T any] struct {
	dialect  string
	from, to int  // in the section of attributes and types
	value    *T   // nil until it is read
	weight   int  // how many entries it consists of, those that occur twice counted twice
	custom   bool // encoded by the dialect, not as text
	state    entryState
}

type entryState uint8

const (
	unread entryState = iota
	reading
	read
)

// maxWeight bounds what a few entries can stand for that refer to each other often.
const maxWeight = 1 << 20

// readEntries finds the entries of the tables. Those of attributes come first.
func (r *reader) readEntries(offsets, data *cursor) {
	if r.err != nil {
		return
	}
	r.entries = data
	r.attrs = make([]entry[Attr], offsets.count("attributes"))
	r.types = make([]entry[Type], offsets.count("types"))
	locate(r, "attribute", r.attrs, offsets)
	locate(r, "type", r.types, offsets)
	offsets.end()
}

// locate finds the data of a table's entries, which follow one another.
func locate[T any](r *reader, what string, table []entry[T], offsets *cursor) {
	for i := 0; i < len(table) && r.err == nil; {
		r.group(offsets, func(dialect string) {
			size, custom := offsets.flagged()
			if size == 0 {
				offsets.corrupt("a %s must have data, number %d has none", what, i)
			}
			e := at(offsets, what, table, uint64(i))
			e.dialect, e.custom, e.from = dialect, custom, r.entries.at
			r.entries.bytes(size)
			e.to = r.entries.at
			i++
		})
	}
}

// cursor returns a cursor for the data of an entry.
func (e *entry[T]) cursor(r *reader, what string) *cursor {
	return &cursor{r: r, what: what, data: r.entries.data[e.from:e.to], base: r.entries.base + e.from}
}

// resolve returns the value of an entry, which it reads if need be.
func resolve[T any](c *cursor, what string, table []entry[T], i uint64, dialects map[string]func(*cursor) T) T {
	var none T
	e := at(c, what, table, i)
	if c.failed() {
		return none
	}
	if e.state == reading {
		c.corrupt("a %s must not be part of itself, number %d is", what, i)
	}
	if e.state == unread {
		outer := c.r.weight
		c.r.weight = 1
		readEntry(c, what, e, dialects)
		e.weight = c.r.weight
		c.r.weight = outer
	}
	c.r.weight = min(c.r.weight+e.weight, 2*maxWeight)
	if c.failed() {
		return none
	}
	return *e.value
}

// sharding is the dialect of annotations that say how devices share tensors. They change
// no value, and are read as nothing.
const sharding = "sdy"

func readEntry[T any](c *cursor, what string, e *entry[T], dialects map[string]func(*cursor) T) {
	decode, known := dialects[e.dialect]
	if e.dialect == sharding {
		e.value, e.state = new(T), read
		return
	}
	if !known {
		c.unsupported("the dialect of a %s must be builtin or vhlo, got %q", what, e.dialect)
		return
	}
	if !e.custom {
		c.unsupported("a %s must be encoded as its dialect says, got text", what)
		return
	}
	if c.r.depth++; c.r.depth > maxDepth {
		c.corrupt("attributes and types must nest at most %d deep", maxDepth)
		return
	}
	e.state = reading
	data := e.cursor(c.r, what)
	v := decode(data)
	data.end()
	e.value, e.state = &v, read
	c.r.depth--
	if c.r.weight > maxWeight {
		c.corrupt("a %s must have at most %d parts", what, maxWeight)
	}
}

// attr reads the number of an attribute and returns the attribute.
func (c *cursor) attr() Attr { return c.attrAt(c.uint()) }

func (c *cursor) attrAt(i uint64) Attr {
	return resolve(c, "attribute", c.r.attrs, i, attrReaders)
}

// optionalAttr returns nil if there is none.
func (c *cursor) optionalAttr() Attr {
	if i, given := c.flagged(); given {
		return c.attrAt(i)
	}
	return nil
}

// typ reads the number of a type and returns the type.
func (c *cursor) typ() Type { return c.typeAt(c.uint()) }

func (c *cursor) typeAt(i uint64) Type {
	return resolve(c, "type", c.r.types, i, typeReaders)
}

func (c *cursor) attrList() []Attr {
	out := make([]Attr, c.count("attributes"))
	for i := 0; i < len(out) && !c.failed(); i++ {
		out[i] = c.attr()
	}
	return out
}

func (c *cursor) typeList() []Type {
	out := make([]Type, c.count("types"))
	for i := 0; i < len(out) && !c.failed(); i++ {
		out[i] = c.typ()
	}
	return out
}

// text reads an attribute that must be a string.
func (c *cursor) text() string {
	a := c.attr()
	s, ok := a.(String)
	if !ok && !c.failed() {
		c.corrupt("a name must be a string, got %T", a)
	}
	return string(s)
}

var attrReaders map[string]func(*cursor) Attr
var typeReaders map[string]func(*cursor) Type

// The readers refer to the tables through the attributes in attributes.
func init() {
	attrReaders = map[string]func(*cursor) Attr{"builtin": (*cursor).builtinAttr, "vhlo": (*cursor).vhloAttr}
	typeReaders = map[string]func(*cursor) Type{"builtin": (*cursor).builtinType, "vhlo": (*cursor).vhloType}
}
