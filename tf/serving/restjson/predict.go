package restjson

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/gorge-tf/gorge/tf"
)

// A Format is how a request has its tensors, and how the answer has them.
type Format int

const (
	Rows    Format = iota + 1 // "instances": a list with an element for each row
	Columns                   // "inputs": tensors
)

// A PredictRequest is the body of a request :predict.
type PredictRequest struct {
	Signature string // "" if the body names none
	Inputs    map[string]*tf.Tensor
	Format    Format
}

// ParsePredict reads the body of a request :predict. Types has the types of the
// inputs of the signature that the body names, "" if it names none. Errors are
// InvalidArgument, or Unimplemented for types that JSON has no numbers for.
func ParsePredict(body []byte, types func(signature string) (map[string]tf.DType, error)) (*PredictRequest, error) {
	d, err := parse(body)
	if err != nil {
		return nil, err
	}
	r := &PredictRequest{}
	if r.Signature, err = d.signature(); err != nil {
		return nil, err
	}
	inputs, err := types(r.Signature)
	if err != nil {
		return nil, err
	}
	if len(inputs) == 0 {
		return nil, tf.Errorf(tf.InvalidArgument, "Failed to get input map for signature: %s", cmp.Or(r.Signature, "DEFAULT"))
	}
	r.Format, r.Inputs, err = d.tensors(inputs)
	return r, err
}

// signature returns the name of the signature, if there is one.
func (d *document) signature() (string, error) {
	n := d.member(0, "signature_name")
	if n == 0 {
		return "", nil
	}
	if !d.is(n, text) {
		return "", d.fault(0, "not formatted correctly. 'signature_name' key must be a string value.")
	}
	return d.text(n), nil
}

// tensors reads what is in instances or inputs.
func (d *document) tensors(types map[string]tf.DType) (Format, map[string]*tf.Tensor, error) {
	instances, inputs := d.member(0, "instances"), d.member(0, "inputs")
	switch {
	case instances != 0 && inputs != 0:
		return 0, nil, d.fault(0, "Not formatted correctly expecting only one of 'inputs' or 'instances' keys to exist ")
	case inputs != 0:
		out, err := d.columns(inputs, types)
		return Columns, out, err
	case instances == 0:
		return 0, nil, tf.Errorf(tf.InvalidArgument, "Missing 'inputs' or 'instances' key")
	case !d.is(instances, array):
		return 0, nil, d.fault(0, "Expecting 'instances' to be an list/array")
	case d.nodes[instances].size == 0:
		return 0, nil, d.fault(0, "No values in 'instances' array")
	}
	out, err := d.rows(instances, types)
	return Rows, out, err
}

// columns reads inputs: a value for the only input, or an object with all of them.
func (d *document) columns(n int32, types map[string]tf.DType) (map[string]*tf.Tensor, error) {
	out := map[string]*tf.Tensor{}
	if !d.is(n, object) || d.isBytes(n) {
		if len(types) > 1 {
			return nil, tf.Errorf(tf.InvalidArgument, "inputs is a plain value/list, but expecting an object as multiple input tensors required as per tensorinfo_map")
		}
		return out, d.column(out, only(types), n, types)
	}
	for _, name := range slices.Sorted(maps.Keys(types)) {
		value := d.member(n, name)
		if value == 0 {
			return nil, tf.Errorf(tf.InvalidArgument, "Missing named input: %s in 'inputs' object.", name)
		}
		if err := d.column(out, name, value, types); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func only(types map[string]tf.DType) string {
	for name := range types {
		return name
	}
	return ""
}

// column reads a tensor.
func (d *document) column(out map[string]*tf.Tensor, name string, n int32, types map[string]tf.DType) error {
	shape := d.shapeOf(n)
	if err := checkRank(len(shape)); err != nil {
		return err
	}
	c := newColumn(types[name], d.leaves(shape, 1))
	err := c.add(d, n, shape)
	if err == nil {
		out[name], err = c.tensor(shape)
	}
	return err
}

// rows reads instances.
func (d *document) rows(n int32, types map[string]tf.DType) (map[string]*tf.Tensor, error) {
	first := n + 1
	if !d.is(first, object) && len(types) > 1 {
		return nil, tf.Errorf(tf.InvalidArgument, "instances is a plain list, but expecting list of objects as multiple input tensors required as per tensorinfo_map")
	}
	t := &table{d: d, types: types, sole: only(types), count: int(d.nodes[n].size), columns: map[string]*growing{}}
	add := t.value
	if d.is(first, object) && !d.isBytes(first) {
		add = t.object
	}
	if err := d.children(n, add); err != nil {
		return nil, err
	}
	return t.tensors()
}

// A table grows by rows.
type table struct {
	d       *document
	types   map[string]tf.DType
	sole    string // the name of an input
	count   int    // of all rows
	columns map[string]*growing
}

// A growing column has the same shape in every row.
type growing struct {
	column
	shape tf.Shape
	size  int // of a row
	rows  int
}

// value adds a row that is the value of the only input.
func (t *table) value(i int, n int32) error {
	if t.d.is(n, object) && !t.d.isBytes(n) {
		return tf.Errorf(tf.InvalidArgument, "Expecting value/list but got object at item %d of input list", i)
	}
	if err := t.add(t.sole, n); err != nil {
		return tf.Errorf(tf.InvalidArgument, "Failed to process element: %d of 'instances' list. Error: %s", i, status(err))
	}
	return nil
}

// object adds a row that has values by the names of inputs.
func (t *table) object(i int, n int32) error {
	d := t.d
	if !d.is(n, object) || d.isBytes(n) {
		return tf.Errorf(tf.InvalidArgument, "Expecting object but got list at item %d of input list", i)
	}
	err := d.members(n, func(name string, value int32) error {
		err := t.add(name, value)
		if err == nil && t.columns[name].rows != i+1 {
			err = tf.Errorf(tf.InvalidArgument, "an object must have a key once, it has %q again", name)
		}
		if err != nil {
			return tf.Errorf(tf.InvalidArgument, "Failed to process element: %d key: %s of 'instances' list. Error: %s", i, name, status(err))
		}
		return nil
	})
	if err == nil && int(d.nodes[n].size) != len(t.types) {
		err = tf.Errorf(tf.InvalidArgument, "Failed to process element: %d of 'instances' list. JSON object: %s keys must be equal to: %s",
			i, d.debug(n), strings.Join(slices.Sorted(maps.Keys(t.types)), ","))
	}
	return err
}

// status is the text of an error that is part of another one.
func status(err error) string {
	e := tf.AsError(err)
	return e.Code.String() + ": " + e.Message()
}

// add adds a row to a column. All rows must be of the shape of the first.
func (t *table) add(name string, n int32) error {
	dtype, ok := t.types[name]
	if !ok {
		return tf.Errorf(tf.InvalidArgument, "JSON object: does not have named input: %s", name)
	}
	c := t.columns[name]
	if c != nil && t.d.hasShape(n, c.shape) {
		return c.grow(t.d, n, c.shape)
	}
	shape := t.d.shapeOf(n)
	if err := checkRank(1 + len(shape)); err != nil {
		return err
	}
	if c == nil {
		c = &growing{column: newColumn(dtype, t.d.leaves(shape, t.count)), shape: shape, size: -1}
		t.columns[name] = c
	}
	return c.grow(t.d, n, shape)
}

// grow adds a row of a shape.
func (c *growing) grow(d *document, n int32, shape tf.Shape) error {
	before := c.len()
	if err := c.column.add(d, n, shape); err != nil {
		return err
	}
	size := c.len() - before
	switch {
	case c.size >= 0 && c.size != size:
		return tf.Errorf(tf.InvalidArgument, "Expecting tensor size: %d but got: %d", c.size, size)
	case !c.shape.Equal(shape):
		return tf.Errorf(tf.InvalidArgument, "Expecting shape %v but got: %v", c.shape, shape)
	}
	c.size = size
	c.rows++
	return nil
}

func (t *table) tensors() (map[string]*tf.Tensor, error) {
	out := make(map[string]*tf.Tensor, len(t.columns))
	for name, c := range t.columns {
		x, err := c.tensor(append(tf.Shape{t.count}, c.shape...))
		if err != nil {
			return nil, err
		}
		out[name] = x
	}
	return out, nil
}
