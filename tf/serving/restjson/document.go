package restjson

import (
	"strings"

	"github.com/gorge-tf/gorge/tf"
)

// A kind is a type of JSON, by RapidJSON's name, which errors quote.
type kind uint8

const (
	null kind = iota
	boolFalse
	boolTrue
	object
	array
	text
	number
)

var kindNames = [...]string{"Null", "False", "True", "Object", "Array", "String", "Number"}

func (k kind) String() string { return kindNames[k] }

// A node is a value of a document. Values lie in the order of their text, so that
// the children of a node follow it: names and values of an object in turn.
type node struct {
	kind    kind
	escaped bool  // of a string: it has escapes
	float   bool  // of a number: it is not written as an integer, or is too large for one
	begin   int32 // of its text; a string's is without quotes
	end     int32
	// Of numbers, next and size are the two halves of their value as a double.
	next int32 // the node after this one and its children
	size int32 // how many elements an array has, how many members an object
}

// behind returns the node that follows n and its children.
func (d *document) behind(n int32) int32 {
	if d.nodes[n].kind == number {
		return n + 1
	}
	return d.nodes[n].next
}

// A document is parsed JSON. Node 0 is the outermost value.
type document struct {
	src   []byte
	nodes []node
}

// children calls f with the elements of an array until f returns an error.
func (d *document) children(n int32, f func(i int, child int32) error) error {
	child := n + 1
	for i := range int(d.nodes[n].size) {
		if err := f(i, child); err != nil {
			return err
		}
		child = d.behind(child)
	}
	return nil
}

// members calls f with the members of an object until f returns an error.
func (d *document) members(n int32, f func(name string, value int32) error) error {
	child := n + 1
	for range int(d.nodes[n].size) {
		if err := f(d.text(child), child+1); err != nil {
			return err
		}
		child = d.behind(child + 1)
	}
	return nil
}

// member returns the first member of a name; 0 means none, as the root is no
// member.
func (d *document) member(n int32, name string) int32 {
	child := n + 1
	for range int(d.nodes[n].size) {
		if d.text(child) == name {
			return child + 1
		}
		child = d.behind(child + 1)
	}
	return 0
}

// raw returns the text of a node.
func (d *document) raw(n int32) []byte { return d.src[d.nodes[n].begin:d.nodes[n].end] }

// text returns a string's value.
func (d *document) text(n int32) string {
	if d.nodes[n].escaped {
		return unescape(d.raw(n))
	}
	return string(d.raw(n))
}

// is reports whether a value is of a kind.
func (d *document) is(n int32, k kind) bool { return d.nodes[n].kind == k }

// maxDebug is how much of a value an error quotes.
const maxDebug = 256

// debug returns the text of a value for an error, without line ends.
func (d *document) debug(n int32) string {
	begin, end := d.nodes[n].begin, d.nodes[n].end
	if d.nodes[n].kind == text {
		begin, end = begin-1, end+1
	}
	if end-begin > maxDebug {
		end = begin + maxDebug
	}
	return strings.ToValidUTF8(strings.Join(strings.Fields(string(d.src[begin:end])), " "), "�")
}

// fault is an error about a value, after which it is quoted.
func (d *document) fault(n int32, format string, args ...any) error {
	return tf.Errorf(tf.InvalidArgument, "JSON Value: %s "+format, append([]any{d.debug(n)}, args...)...)
}
