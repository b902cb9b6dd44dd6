package stablehlo

// The sections of an artifact, by their numbers.
const (
	stringSection = iota
	dialectSection
	attrTypeSection
	offsetSection
	irSection
	resourceSection
	resourceOffsetSection
	dialectVersionSection
	propertySection
	sections
)

var sectionNames = [sections]string{"strings", "dialects", "attributes and types", "offsets of attributes and types", "operations",
	"resources", "offsets of resources", "versions of a dialect", "properties"}

// section reads the header of a section and returns its number and its contents.
func (c *cursor) section() (byte, *cursor) {
	head := c.byte()
	n := c.uint()
	if head&0x80 != 0 {
		c.align(c.uint())
	}
	id := head & 0x7F
	if id >= sections {
		c.unsupported("the number of a section must be below %d, got %d", sections, id)
		return 0, c.sub("section", 0)
	}
	return id, c.sub(sectionNames[id], n)
}

// divide finds the sections of an artifact. Resources are not looked at: no attribute
// of VHLO has any.
func (r *reader) divide(c *cursor) {
	for !c.empty() {
		id, s := c.section()
		if r.sections[id] != nil {
			c.corrupt("an artifact must have one section of %s, got two", sectionNames[id])
		}
		r.sections[id] = s
	}
	for id, s := range r.sections {
		needed := id <= irSection || id == propertySection && r.version >= properties
		if s == nil && needed {
			c.corrupt("an artifact must have a section of %s, got none", sectionNames[id])
		}
	}
}

// readStrings fills the table of strings. Their sizes, which count a zero at the end
// of each, come from the last one to the first; the strings follow.
func (r *reader) readStrings(c *cursor) {
	sizes := make([]int, c.count("strings"))
	for i := range sizes {
		n := c.uint()
		if n == 0 {
			c.corrupt("a string must end with a zero, got one without any byte")
		}
		sizes[len(sizes)-1-i] = c.fits("bytes of a string", n)
	}
	r.strings = make([]string, len(sizes))
	for i, n := range sizes {
		b := c.bytes(uint64(n))
		r.strings[i] = string(b[:max(len(b)-1, 0)])
	}
	c.end()
}

// readProperties finds the properties that operations refer to.
func (r *reader) readProperties(c *cursor) {
	if c == nil || c.empty() {
		return
	}
	r.props = make([]*cursor, c.count("properties"))
	for i := range r.props {
		r.props[i] = c.sub("properties", c.uint())
	}
	c.end()
}

// An opName is an entry of the table of names of operations.
type opName struct {
	dialect, name string
	native        bool // whether properties are in the operation's own encoding
}

// readDialects fills the tables of dialects and of names of operations.
func (r *reader) readDialects(c *cursor) {
	r.dialects = make([]string, c.count("dialects"))
	for i := range r.dialects {
		r.dialects[i] = r.dialect(c)
	}
	if r.version >= elidedLocations {
		c.uint() // the number of names
	}
	for !c.empty() {
		r.group(c, func(dialect string) {
			n := opName{dialect: dialect}
			i := c.uint()
			if r.version >= properties {
				i, n.native = i>>1, i&1 != 0
			}
			n.name = c.stringAt(i)
			r.names = append(r.names, n)
		})
	}
}

// dialect reads the name of a dialect and steps over its version: VHLO's is in the
// names of operations, attributes and types.
func (r *reader) dialect(c *cursor) string {
	if r.version < dialectVersions {
		return c.string()
	}
	i, versioned := c.flagged()
	if versioned {
		if id, _ := c.section(); id != dialectVersionSection {
			c.corrupt("a dialect's version must be a section of %s, got one of %s", sectionNames[dialectVersionSection], sectionNames[id])
		}
	}
	return c.stringAt(i)
}

// group reads entries that belong to one dialect.
func (r *reader) group(c *cursor, one func(dialect string)) {
	dialect := *at(c, "dialect", r.dialects, c.uint())
	for range c.count("entries of a dialect") {
		if c.failed() {
			return
		}
		one(dialect)
	}
}
