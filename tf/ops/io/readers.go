package io

import (
	"github.com/gorge-tf/gorge/internal/handle"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

func init() {
	const shared = "container: string = ''; shared_name: string = ''"
	const fixed = "header_bytes: int = 0; record_bytes: int; footer_bytes: int = 0; hop_bytes: int = 0; " + shared
	newReaders("WholeFileReader", shared, shared, func(*core.Node) (format, error) { return &wholeFile{}, nil })
	newReaders("IdentityReader", shared, shared, func(*core.Node) (format, error) { return &identity{}, nil })
	newReaders("TextLineReader", "skip_header_lines: int = 0; "+shared, "skip_header_lines: int = 0; "+shared, newTextLine)
	newReaders("FixedLengthRecordReader", fixed, fixed+"; encoding: string = ''", newFixedLength)
	newReaders("TFRecordReader", shared+"; compression_type: string = ''", shared+"; compression_type: string = ''", newTFRecord)
}

// newReaders registers both generations of an op that makes readers.
func newReaders(name, attrs, attrsV2 string, newFormat func(*core.Node) (format, error)) {
	kernel := func(n *core.Node) (core.Kernel, error) {
		if _, err := newFormat(n); err != nil {
			return nil, err
		}
		return handle.Kernel(n, handle.Maker[*reader]{New: func(string) (*reader, error) {
			f, err := newFormat(n)
			if err != nil {
				return nil, err
			}
			return newReader(name+" '"+n.Name+"'", f), nil
		}}), nil
	}
	core.Register(core.OpDef{
		Name: name, Out: "reader_handle: Ref(string)", Attrs: attrs, Stateful: true,
		Shape: pairShape, NoGrad: core.NotDifferentiable, Kernels: core.AnyType(kernel),
	})
	core.Register(core.OpDef{
		Name: name + "V2", Out: "reader_handle: resource", Attrs: attrsV2, Stateful: true,
		Shape: core.ScalarShape, NoGrad: core.NotDifferentiable, Kernels: core.AnyType(kernel),
	})
}

// pairShape is the shape of handles of the first generation: two strings.
func pairShape(c *core.Infer) error {
	c.Set(0, tf.Shape{2})
	return nil
}

func newTextLine(n *core.Node) (format, error) {
	skip := n.Int("skip_header_lines")
	if skip < 0 {
		return nil, tf.Errorf(tf.InvalidArgument, "skip_header_lines must be >= 0 not %d", skip)
	}
	return &textLine{skip: skip}, nil
}

func newFixedLength(n *core.Node) (format, error) {
	f := &fixedLength{}
	if e := n.Str("encoding"); e == "ZLIB" || e == "GZIP" {
		f.compression = e
	}
	for _, a := range []struct {
		name string
		dst  *int64
		min  int
		text string
	}{
		{"header_bytes", &f.header, 0, "header_bytes must be >= 0 not %d"}, {"record_bytes", &f.record, 1, "record_bytes must be > 0 not %d"},
		{"footer_bytes", &f.footer, 0, "footer_bytes must be >= 0 not %d"}, {"hop_bytes", &f.hop, 0, "hop_bytes must be >= 0 not %d"},
	} {
		v := n.Int(a.name)
		if v < a.min {
			return nil, tf.Errorf(tf.InvalidArgument, a.text, v)
		}
		*a.dst = int64(v)
	}
	return f, nil
}

func newTFRecord(n *core.Node) (format, error) {
	switch kind := n.Str("compression_type"); kind {
	case "", "GZIP", "ZLIB":
		return &tfRecord{compression: kind}, nil
	default:
		return nil, tf.Errorf(tf.InvalidArgument, "Unsupported compression_type:%s", kind)
	}
}

// SharedOpts are the optional attributes of readers. Readers of equal container
// and shared name, on one device, are one reader.
type SharedOpts struct{ Container, SharedName string }

// Apply sets the attributes.
func (o SharedOpts) Apply(s *tf.Spec) {
	s.Set("container", o.Container)
	s.Set("shared_name", o.SharedName)
}

// WholeFileReaderV2 adds a reader whose records are whole files, with their
// names as keys. The result is a resource handle, a scalar. A container of
// characters other than letters, digits, dots, slashes and hyphens, and a
// shared name that begins with an underscore, are refused with
// INVALID_ARGUMENT in the step, a nil g when the graph is built.
// Its options are [SharedOpts].
func WholeFileReaderV2(g *tf.Graph, opts ...tf.Option) tf.Output {
	return tf.Apply(g, "WholeFileReaderV2", nil, opts...).Output(0)
}

// IdentityReaderV2 adds a reader whose records are the work itself. Keys are
// equal to the records. A container of characters other than letters, digits,
// dots, slashes and hyphens, and a shared name that begins with an underscore,
// are refused with INVALID_ARGUMENT in the step, a nil g when the graph is
// built. Its options are [SharedOpts].
func IdentityReaderV2(g *tf.Graph, opts ...tf.Option) tf.Output {
	return tf.Apply(g, "IdentityReaderV2", nil, opts...).Output(0)
}

// TextLineReaderV2 adds a reader of lines, without the first skip of each
// file. Keys are "file:number", beginning with 1. Records are without the ends
// of lines, "\n" or "\r\n". A negative skip is refused with
// INVALID_ARGUMENT in the step. Its options are [SharedOpts].
func TextLineReaderV2(g *tf.Graph, skip int, opts ...tf.Option) tf.Output {
	return tf.Apply(g, "TextLineReaderV2", nil, tf.Join(opts, tf.Attr("skip_header_lines", skip))...).Output(0)
}

// FixedLengthOpts are the optional attributes of FixedLengthRecordReaderV2.
type FixedLengthOpts struct {
	HeaderBytes, FooterBytes int
	HopBytes                 int    // from the begin of a record to the next; 0: the record's length
	Encoding                 string // "", "GZIP" or "ZLIB"
}

// Apply sets the attributes.
func (o FixedLengthOpts) Apply(s *tf.Spec) {
	s.Set("header_bytes", o.HeaderBytes)
	s.Set("footer_bytes", o.FooterBytes)
	s.Set("hop_bytes", o.HopBytes)
	s.Set("encoding", o.Encoding)
}

// FixedLengthRecordReaderV2 adds a reader of records of recordBytes bytes.
// Keys are "file:number", beginning with 0. What is left behind the last whole
// record is not read. A recordBytes that is not positive, and options that are
// negative, are refused with INVALID_ARGUMENT in the step. A compressed file
// is read into memory as a whole; one that is damaged is refused with
// DATA_LOSS. Its options are [FixedLengthOpts] and [SharedOpts].
func FixedLengthRecordReaderV2(g *tf.Graph, recordBytes int, opts ...tf.Option) tf.Output {
	return tf.Apply(g, "FixedLengthRecordReaderV2", nil, tf.Join(opts, tf.Attr("record_bytes", recordBytes))...).Output(0)
}

// TFRecordReaderV2 adds a reader of TFRecord files, compressed by "GZIP",
// "ZLIB" or not, "". Keys are "file:offset". Another compression is refused
// with INVALID_ARGUMENT in the step, a damaged file with DATA_LOSS in the step
// that reads it. Its options are [SharedOpts].
func TFRecordReaderV2(g *tf.Graph, compression string, opts ...tf.Option) tf.Output {
	return tf.Apply(g, "TFRecordReaderV2", nil, tf.Join(opts, tf.Attr("compression_type", compression))...).Output(0)
}
