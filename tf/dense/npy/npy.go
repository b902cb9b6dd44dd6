// Package npy reads and writes tensors in numpy's files: .npy and .npz.
// The format: https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html
package npy

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

// magic begins every npy file.
const magic = "\x93NUMPY"

// maxHeader bounds the header of a file: numpy's own take about a hundred bytes.
const maxHeader = 1 << 20

// descrs are numpy's names of types, little-endian. BFloat16 has no name there:
// it is written as what has two bytes. Strings have a width, see strings.go.
var descrs = map[tf.DType]string{
	tf.Bool: "|b1", tf.Int8: "|i1", tf.Uint8: "|u1", tf.Int16: "<i2", tf.Uint16: "<u2", tf.Int32: "<i4", tf.Uint32: "<u4",
	tf.Int64: "<i8", tf.Uint64: "<u8", tf.Float16: "<f2", tf.Float32: "<f4", tf.Float64: "<f8", tf.Complex64: "<c8", tf.Complex128: "<c16",
	tf.BFloat16: "|V2",
}

// Write writes t as numpy's save does. The format is NPY (NEP 1). Strings
// become |S, all as wide as the longest: numpy drops NUL bytes at their ends.
// BFloat16 becomes |V2.
func Write(w io.Writer, t *tf.Tensor) error {
	if t == nil {
		return tf.Errorf(tf.InvalidArgument, "a tensor must not be nil")
	}
	if w == nil {
		return tf.Errorf(tf.InvalidArgument, "an npy file is written to a writer, got nil")
	}
	if t.DType() == tf.String {
		return writeStrings(w, t)
	}
	descr := descrs[t.DType()]
	if descr == "" {
		return tf.Errorf(tf.InvalidArgument, "an npy file must hold numbers, booleans or strings, got a tensor of type %v", t.DType())
	}
	if err := writeHeader(w, descr, t.Shape()); err != nil {
		return err
	}
	_, err := w.Write(swapped(bytesOf(t)[:t.NumBytes()], part(t.DType()), hostIsBig))
	return err
}

func writeHeader(w io.Writer, descr string, s tf.Shape) error {
	header := fmt.Sprintf("{'descr': '%s', 'fortran_order': False, 'shape': %s, }", descr, tuple(s))
	const align = 64
	pad := align - (len(magic)+4+len(header)+1)%align
	header += strings.Repeat(" ", pad%align) + "\n"
	b := append([]byte(magic), 1, 0)
	b = binary.LittleEndian.AppendUint16(b, uint16(len(header)))
	_, err := w.Write(append(b, header...))
	return err
}

// tuple writes a shape as Python does.
func tuple(s tf.Shape) string {
	if len(s) == 1 {
		return fmt.Sprintf("(%d,)", s[0])
	}
	dims := make([]string, len(s))
	for i, d := range s {
		dims[i] = strconv.Itoa(d)
	}
	return "(" + strings.Join(dims, ", ") + ")"
}

// Read reads a tensor that numpy's save has written, in either byte order and
// in the order of rows or of columns. The format is NPY (NEP 1). Reading from
// a stream leaves what follows. Strings come from |S and, as UTF-8, from U;
// what is V2 is BFloat16.
func Read(r io.Reader) (*tf.Tensor, error) {
	h, err := readHeader(r)
	if err != nil {
		return nil, err
	}
	n, err := h.size()
	if err != nil {
		return nil, err
	}
	data, err := readAll(r, n)
	if err != nil {
		return nil, tf.Errorf(tf.DataLoss, "an npy file of shape %v and type %v must have %d bytes of data: %v", h.shape, h.dtype, n, err)
	}
	if h.dtype == tf.String {
		return h.strings(data)
	}
	t, err := tf.NewTensor(h.dtype, h.shape)
	if err != nil {
		return nil, err
	}
	data = swapped(data, part(h.dtype), h.big != hostIsBig)
	if h.fortran {
		fromColumns(bytesOf(t), data, h.shape, h.dtype.Size())
	} else {
		copy(bytesOf(t), data)
	}
	core.NormalizeBools(h.dtype, bytesOf(t))
	return t, nil
}

// bytesOf returns the memory of t.
func bytesOf(t *tf.Tensor) []byte { return (*core.Tensor)(t).Buffer().Bytes() }

// readAll reads n bytes, and takes memory only for what is there.
func readAll(r io.Reader, n int) ([]byte, error) {
	var b bytes.Buffer
	got, err := io.Copy(&b, io.LimitReader(r, int64(n)))
	if err == nil && int(got) < n {
		err = fmt.Errorf("there are %d", got)
	}
	return b.Bytes(), err
}

// header describes the data of a file.
type header struct {
	dtype        tf.DType
	big, fortran bool
	shape        tf.Shape
	width        int  // of a string, in bytes
	runes        bool // strings are code points of 4 bytes
}

func (h *header) size() (int, error) {
	if h.dtype == tf.String {
		return h.stringsSize()
	}
	if err := core.CheckSize(h.dtype, h.shape); err != nil {
		return 0, err
	}
	return h.shape.NumElements() * h.dtype.Size(), nil
}

func readHeader(r io.Reader) (*header, error) {
	if r == nil {
		return nil, tf.Errorf(tf.InvalidArgument, "an npy file is read from a reader, got nil")
	}
	var b [8]byte
	if _, err := io.ReadFull(r, b[:]); err != nil || string(b[:6]) != magic {
		return nil, tf.Errorf(tf.InvalidArgument, "an npy file must begin with %q and its version, got %q", magic, b)
	}
	n, err := headerLength(r, b[6])
	if err != nil {
		return nil, err
	}
	text := make([]byte, n)
	if _, err := io.ReadFull(r, text); err != nil {
		return nil, tf.Errorf(tf.DataLoss, "the header of an npy file must have %d bytes: %v", n, err)
	}
	return parseHeader(string(text))
}

func headerLength(r io.Reader, version byte) (int, error) {
	var b [4]byte
	width := 4
	switch version {
	case 1:
		width = 2
	case 2, 3:
	default:
		return 0, tf.Errorf(tf.Unimplemented, "the version of an npy file must be 1, 2 or 3, got %d", version)
	}
	if _, err := io.ReadFull(r, b[:width]); err != nil {
		return 0, tf.Errorf(tf.DataLoss, "an npy file ends in its header: %v", err)
	}
	n := binary.LittleEndian.Uint32(b[:])
	if n > maxHeader {
		return 0, tf.Errorf(tf.InvalidArgument, "the header of an npy file must not be longer than %d bytes, got %d", maxHeader, n)
	}
	return int(n), nil
}

var (
	descrForm   = regexp.MustCompile(`'descr'\s*:\s*'([<>|=])?([a-zA-Z]\d*)(\[\w+\])?'`) // the last part is a unit of times
	recordForm  = regexp.MustCompile(`'descr'\s*:\s*\[`)
	fortranForm = regexp.MustCompile(`'fortran_order'\s*:\s*(True|False)`)
	shapeForm   = regexp.MustCompile(`'shape'\s*:\s*\(([^)]*)\)`)
)

// parseHeader reads the Python dictionary that a header is.
func parseHeader(text string) (*header, error) {
	descr, fortran, shape := descrForm.FindStringSubmatch(text), fortranForm.FindStringSubmatch(text), shapeForm.FindStringSubmatch(text)
	if recordForm.MatchString(text) {
		return nil, tf.Errorf(tf.Unimplemented, "an npy file must not hold records of several fields: write each field as an array of its own, a['x']")
	}
	if descr == nil || fortran == nil || shape == nil {
		return nil, tf.Errorf(tf.InvalidArgument, "the header of an npy file must give descr, fortran_order and shape, got %q", text)
	}
	h := &header{big: descr[1] == ">" || descr[1] == "=" && hostIsBig, fortran: fortran[1] == "True", shape: tf.Shape{}}
	if err := h.setType(descr[2] + descr[3]); err != nil {
		return nil, err
	}
	for _, dim := range strings.Split(shape[1], ",") {
		if dim = strings.TrimSpace(dim); dim == "" {
			continue
		}
		n, err := strconv.Atoi(strings.TrimSuffix(dim, "L"))
		if err != nil || n < 0 {
			return nil, tf.Errorf(tf.InvalidArgument, "the shape in an npy file must be a tuple of sizes, got (%s)", shape[1])
		}
		h.shape = append(h.shape, n)
	}
	return h, nil
}

// setType sets the type that numpy calls name.
func (h *header) setType(name string) error {
	for d, n := range descrs {
		if n[1:] == name {
			h.dtype = d
			return nil
		}
	}
	if (name[0] == 'S' || name[0] == 'U') && len(name) > 1 {
		return h.setWidth(name)
	}
	if name[0] == 'O' {
		return tf.Errorf(tf.Unimplemented, "an npy file must not hold Python objects, which only Python can read: write strings as fixed-width bytes, a.astype('S')")
	}
	return tf.Errorf(tf.Unimplemented, "the type of an npy file must be that of numbers, booleans or strings, got %q", name)
}

// hostIsBig tells machines that keep the highest byte first.
var hostIsBig = binary.NativeEndian.Uint16([]byte{0, 1}) == 1

// part is the size of what has a byte order: a complex number is two.
func part(d tf.DType) int {
	if d.IsComplex() {
		return d.Size() / 2
	}
	return d.Size()
}

// swapped returns numbers of the given size in the other byte order, if that is
// wanted.
func swapped(b []byte, size int, other bool) []byte {
	if !other || size == 1 {
		return b
	}
	out := make([]byte, len(b))
	for i := 0; i+size <= len(b); i += size {
		for k := range size {
			out[i+k] = b[i+size-1-k]
		}
	}
	return out
}

// fromColumns brings elements that are stored column by column into the order of
// rows.
func fromColumns(dst, src []byte, s tf.Shape, size int) {
	index := make([]int, len(s))
	strides, n := make([]int, len(s)), size
	for i, d := range s {
		strides[i] = n
		n *= d
	}
	for at := 0; at+size <= len(dst) && len(src) > 0; at += size {
		from := 0
		for i, k := range index {
			from += k * strides[i]
		}
		copy(dst[at:at+size], src[from:])
		for i := len(s) - 1; i >= 0; i-- {
			if index[i]++; index[i] < s[i] {
				break
			}
			index[i] = 0
		}
	}
}
