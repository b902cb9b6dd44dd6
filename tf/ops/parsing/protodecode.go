package parsing

import (
	"math"
	"slices"

	"google.golang.org/protobuf/encoding/prototext"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/dynamicpb"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/pb"
)

func init() {
	register("DecodeProtoV2", "bytes: string", "sizes: int32; values: output_types",
		"message_type: string; field_names: list(string); output_types: list(type) >= 0; descriptor_source: string = 'local://'; message_format: string = 'binary'; sanitize: bool = false",
		decodeProtoShape, core.AnyType(decodeProto))
}

// ProtoOpts are the optional attributes of DecodeProtoV2.
type ProtoOpts struct {
	// DescriptorSource is the name of a file that holds a FileDescriptorSet,
	// or "bytes://" and the set itself; without it the types that are linked
	// into the program serve.
	DescriptorSource string
	Text             bool // messages are in text format
	Sanitize         bool // messages are parsed and written anew before they are read
}

// Apply sets the attributes.
func (o ProtoOpts) Apply(s *tf.Spec) {
	if o.DescriptorSource != "" {
		s.Set("descriptor_source", o.DescriptorSource)
	}
	if o.Text {
		s.Set("message_format", "text")
	}
	s.Set("sanitize", o.Sanitize)
}

// DecodeProtoV2 reads fields out of serialized protocol buffers of a type. For
// each field, of the type of tensor that types gives, the values of a message
// fill a row, behind which come defaults: rows are as long as the most values
// that a message has. Sizes, with a last dimension as long as fields, tells
// how many there are. Sizes is int32; the results of a field have the shape of
// bytes and a last dimension of at least 1. A message type or field that is
// not known, and a type of tensor that cannot hold a field, are refused with
// INVALID_ARGUMENT in the step, as are bytes without elements. Messages that
// are damaged are refused with DATA_LOSS in the step.
// Its options are [ProtoOpts].
func DecodeProtoV2(bytes tf.Output, messageType string, fields []string, types []tf.DType, opts ...tf.Option) (sizes tf.Output, values []tf.Output) {
	opts = tf.Join(opts, tf.Attr("message_type", messageType), tf.Attr("field_names", fields), tf.Attr("output_types", types))
	op := tf.Apply(nil, "DecodeProtoV2", []tf.Output{bytes}, opts...)
	for i := range types {
		values = append(values, op.Output(i+1))
	}
	return op.Output(0), values
}

func decodeProtoShape(c *core.Infer) error {
	s := c.In(0)
	if s == nil {
		return nil
	}
	c.Set(0, append(s.Clone(), c.NumOut()-1))
	for i := 1; i < c.NumOut(); i++ {
		c.Set(i, append(s.Clone(), -1))
	}
	return nil
}

// A protoDecoder reads the fields that a node asks for.
type protoDecoder struct {
	message  *messageType
	fields   []protoreflect.FieldDescriptor
	types    []tf.DType
	byNumber map[protowire.Number]int
	reparse  bool // messages are written anew first
	text     bool
}

func decodeProto(n *core.Node) (core.Kernel, error) {
	d, err := newProtoDecoder(n)
	if err != nil {
		return nil, err
	}
	return core.Compute(d.compute), nil
}

func newProtoDecoder(n *core.Node) (*protoDecoder, error) {
	m, err := messageTypeOf(n)
	if err != nil {
		return nil, err
	}
	d := &protoDecoder{message: m, types: n.TypesAttr("output_types"), byNumber: map[protowire.Number]int{}}
	names := n.Strs("field_names")
	if len(names) != len(d.types) {
		return nil, tf.Errorf(tf.InvalidArgument, "field_names and output_types attributes must have the same length")
	}
	for i, name := range names {
		f, err := m.field(name, true)
		if err != nil {
			return nil, err
		}
		if !holds(d.types[i], f.Kind()) {
			return nil, tf.Errorf(tf.InvalidArgument, "Unexpected output type for %s: %s to %s", f.FullName(), cppType(f.Kind()), pb.DataType(d.types[i]))
		}
		d.fields = append(d.fields, f)
		if _, twice := d.byNumber[f.Number()]; !twice { // as in TensorFlow the first one has the values
			d.byNumber[f.Number()] = i
		}
	}
	switch n.Str("message_format") {
	case "text":
		d.text = true
	case "binary":
	default:
		return nil, tf.Errorf(tf.InvalidArgument, "format must be one of binary or text")
	}
	d.reparse = d.text || n.Bool("sanitize")
	return d, nil
}

// A protoRow collects the values of one field of one message.
type protoRow struct {
	numbers []uint64 // integers with their sign extended; floating-point numbers as the bits of a float64
	strings []string
	count   int // of values seen
}

func (d *protoDecoder) compute(c *core.OpContext) error {
	in := c.Input(0)
	if in.Len() < 1 {
		return tf.Errorf(tf.InvalidArgument, "Bufs argument must contain at least one value")
	}
	rows, longest := core.Make[[]protoRow](in.Len()), slices.Repeat([]int{1}, len(d.fields))
	for i, s := range core.Data[string](in) {
		row, err := d.read(s)
		if err != nil {
			return err
		}
		for f := range row {
			longest[f] = max(longest[f], row[f].count)
		}
		rows[i] = row
	}
	return d.write(c, rows, longest)
}

// write makes the outputs: sizes, and the values of each field.
func (d *protoDecoder) write(c *core.OpContext, rows [][]protoRow, longest []int) error {
	s := c.Input(0).Shape()
	sizes, err := c.Alloc(0, tf.Int32, append(s.Clone(), len(d.fields)))
	if err != nil {
		return err
	}
	for f, n := range longest {
		t, err := c.Alloc(f+1, d.types[f], append(s.Clone(), n))
		if err != nil {
			return err
		}
		for i := range rows {
			r := &rows[i][f]
			core.Data[int32](sizes)[i*len(d.fields)+f] = int32(r.count)
			d.fill(t, i*n, n, r, d.fields[f])
		}
	}
	return nil
}

// fill writes the values of a row and the default behind them.
func (d *protoDecoder) fill(t *core.Tensor, at, n int, r *protoRow, f protoreflect.FieldDescriptor) {
	if t.DType() == tf.String {
		k := copy(core.Data[string](t)[at:at+n], r.strings)
		for ; k < n; k++ {
			core.Data[string](t)[at+k] = defaultString(f)
		}
		return
	}
	for k := range n {
		v := defaultNumber(f)
		if k < len(r.numbers) {
			v = r.numbers[k]
		}
		setNumber(t, at+k, v)
	}
}

func defaultString(f protoreflect.FieldDescriptor) string {
	switch v := f.Default().Interface().(type) { // nil if it is repeated
	case string:
		return v
	case []byte:
		return string(v)
	}
	return ""
}

func defaultNumber(f protoreflect.FieldDescriptor) uint64 {
	switch v := f.Default().Interface().(type) {
	case bool:
		return protowire.EncodeBool(v)
	case int32:
		return uint64(v)
	case int64:
		return uint64(v)
	case uint32:
		return uint64(v)
	case uint64:
		return v
	case float32:
		return math.Float64bits(float64(v))
	case float64:
		return math.Float64bits(v)
	case protoreflect.EnumNumber:
		return uint64(v)
	}
	return 0
}

// setNumber stores a number of a protoRow.
func setNumber(t *core.Tensor, i int, v uint64) {
	switch t.DType() {
	case tf.Bool:
		core.Data[bool](t)[i] = v != 0
	case tf.Int32:
		core.Data[int32](t)[i] = int32(v)
	case tf.Int64:
		core.Data[int64](t)[i] = int64(v)
	case tf.Uint32:
		core.Data[uint32](t)[i] = uint32(v)
	case tf.Uint64:
		core.Data[uint64](t)[i] = v
	case tf.Float32:
		core.Data[float32](t)[i] = float32(math.Float64frombits(v))
	case tf.Float64:
		core.Data[float64](t)[i] = math.Float64frombits(v)
	}
}

// read collects the values in one message.
func (d *protoDecoder) read(s string) ([]protoRow, error) {
	b := []byte(s)
	if d.reparse {
		var err error
		if b, err = d.rewritten(b); err != nil {
			return nil, err
		}
	}
	rows := make([]protoRow, len(d.fields))
	for len(b) > 0 {
		num, typ, n := protowire.ConsumeTag(b)
		if n < 0 || typ == protowire.EndGroupType {
			return nil, tf.Errorf(tf.DataLoss, "CountFields: Failed to consume entire buffer")
		}
		i, asked := d.byNumber[num]
		if !asked {
			if _, _, n = protowire.ConsumeField(b); n < 0 {
				return nil, tf.Errorf(tf.DataLoss, "Failed skipping unrequested field")
			}
			b = b[n:]
			continue
		}
		used, err := rows[i].add(d.fields[i], d.types[i], num, typ, b[n:])
		if err != nil {
			return nil, err
		}
		b = b[n+used:]
	}
	return rows, nil
}

// rewritten parses a message and serializes it.
func (d *protoDecoder) rewritten(b []byte) ([]byte, error) {
	m := dynamicpb.NewMessage(d.message.MessageDescriptor)
	if d.text {
		if err := (prototext.UnmarshalOptions{Resolver: d.message.types}).Unmarshal(b, m); err != nil {
			return nil, tf.Errorf(tf.DataLoss, "Unable to parse text protobuf")
		}
	} else if err := (proto.UnmarshalOptions{Resolver: d.message.types}).Unmarshal(b, m); err != nil {
		return nil, tf.Errorf(tf.DataLoss, "Unable to parse binary protobuf")
	}
	out, err := proto.MarshalOptions{Deterministic: true}.Marshal(m)
	if err != nil {
		return nil, tf.Errorf(tf.DataLoss, "Unable to reserialize text proto as binary")
	}
	return out, nil
}

// add reads a value, or packed values, of the field from the beginning of b. It
// returns how many bytes they have.
func (r *protoRow) add(f protoreflect.FieldDescriptor, d tf.DType, num protowire.Number, typ protowire.Type, b []byte) (int, error) {
	want := wireTypes[f.Kind()]
	switch {
	case typ == protowire.BytesType && want != protowire.BytesType && want != protowire.StartGroupType:
		return r.addPacked(f, d, b)
	case typ != want:
		n := protowire.ConsumeFieldValue(num, typ, b)
		if n < 0 {
			return 0, tf.Errorf(tf.DataLoss, "CollectField: Failed skipping malformed field")
		}
		return n, nil
	}
	if !repeated(f) { // the last one counts
		*r = protoRow{}
	}
	n := r.addOne(f, num, b)
	if n < 0 {
		return 0, tf.Errorf(tf.DataLoss, "ReadValue: Failed skipping field when counting")
	}
	return n, nil
}

// addPacked reads values that lie in one piece. Of a field that is not repeated
// TensorFlow counts them but then takes the default.
func (r *protoRow) addPacked(f protoreflect.FieldDescriptor, d tf.DType, b []byte) (int, error) {
	data, n := protowire.ConsumeBytes(b)
	if n < 0 {
		return 0, tf.Errorf(tf.DataLoss, "CollectField: Failed reading packed size")
	}
	before := len(r.numbers)
	for len(data) > 0 {
		used := r.addOne(f, f.Number(), data)
		if used < 0 {
			return 0, tf.Errorf(tf.DataLoss, "Corrupt packed varint")
		}
		data = data[used:]
	}
	if f.Kind() == protoreflect.Int32Kind && d == tf.Int64 {
		for i, v := range r.numbers[before:] { // TensorFlow does not extend the sign of these
			r.numbers[before+i] = uint64(uint32(v))
		}
	}
	if !repeated(f) && r.count > 0 {
		*r = protoRow{count: 1}
	}
	return n, nil
}

// addOne reads one value. It returns how many bytes it has, less than 0 if it
// is not whole.
func (r *protoRow) addOne(f protoreflect.FieldDescriptor, num protowire.Number, b []byte) int {
	r.count++
	switch wireTypes[f.Kind()] {
	case protowire.BytesType:
		s, n := protowire.ConsumeBytes(b)
		r.strings = append(r.strings, string(s))
		return n
	case protowire.StartGroupType:
		_, n := protowire.ConsumeGroup(num, b)
		if n >= 0 { // with the tags around it
			r.strings = append(r.strings, string(protowire.AppendTag(nil, num, protowire.StartGroupType))+string(b[:n]))
		}
		return n
	case protowire.Fixed32Type:
		v, n := protowire.ConsumeFixed32(b)
		r.numbers = append(r.numbers, number(f.Kind(), uint64(v)))
		return n
	case protowire.Fixed64Type:
		v, n := protowire.ConsumeFixed64(b)
		r.numbers = append(r.numbers, v)
		return n
	}
	v, n := protowire.ConsumeVarint(b)
	r.numbers = append(r.numbers, number(f.Kind(), v))
	return n
}

// number makes the number that a protoRow keeps of what the wire has.
func number(k protoreflect.Kind, v uint64) uint64 {
	switch k {
	case protoreflect.FloatKind:
		return math.Float64bits(float64(math.Float32frombits(uint32(v))))
	case protoreflect.Int32Kind, protoreflect.Sfixed32Kind, protoreflect.EnumKind:
		return uint64(int32(v))
	case protoreflect.Uint32Kind:
		return uint64(uint32(v))
	case protoreflect.Sint32Kind:
		return uint64(int32(protowire.DecodeZigZag(v & math.MaxUint32)))
	case protoreflect.Sint64Kind:
		return uint64(protowire.DecodeZigZag(v))
	}
	return v
}
