package npy

import (
	"bytes"
	"encoding/binary"
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/gorge-tf/gorge/tf"
)

// writeStrings writes strings of one width, that of the longest.
func writeStrings(w io.Writer, t *tf.Tensor) error {
	all, err := tf.Values[string](t)
	if err != nil {
		return err
	}
	width := 1 // numpy does not read arrays of width 0 everywhere
	for _, s := range all {
		width = max(width, len(s))
	}
	if err := writeHeader(w, "|S"+strconv.Itoa(width), t.Shape()); err != nil {
		return err
	}
	row := make([]byte, width)
	for _, s := range all {
		clear(row[copy(row, s):])
		if _, err := w.Write(row); err != nil {
			return err
		}
	}
	return nil
}

// setWidth sets the type to strings: "S5" has 5 bytes, "U5" 5 code points.
func (h *header) setWidth(name string) error {
	n, err := strconv.ParseUint(name[1:], 10, 31)
	if err != nil {
		return tf.Errorf(tf.InvalidArgument, "the type of strings in an npy file must have a width, got %q", name)
	}
	h.dtype, h.width, h.runes = tf.String, int(n), name[0] == 'U'
	if h.runes {
		h.width *= 4
	}
	return nil
}

// stringsSize returns the bytes of all strings. Strings without width take no
// bytes in the file but some in memory: there may not be more of them than a file
// of a GiB could hold.
func (h *header) stringsSize() (int, error) {
	n := 1
	for _, d := range h.shape {
		if d > 0 && n > math.MaxInt/16/d/max(h.width, 1) {
			return 0, tf.Errorf(tf.InvalidArgument, "an npy file of strings of %d bytes must fit in memory, it has shape %v", h.width, h.shape)
		}
		n *= d
	}
	if h.width == 0 && n > 1<<30 {
		return 0, tf.Errorf(tf.InvalidArgument, "an npy file must not hold more than %d empty strings, it has shape %v", 1<<30, h.shape)
	}
	return n * h.width, nil
}

// strings makes a tensor of the data of a file.
func (h *header) strings(data []byte) (*tf.Tensor, error) {
	t, err := tf.NewTensor(tf.String, h.shape)
	if err != nil {
		return nil, err
	}
	if h.fortran && h.width > 0 {
		rows := make([]byte, len(data))
		fromColumns(rows, data, h.shape, h.width)
		data = rows
	}
	out := tf.Data[string](t)
	for i := range out {
		if out[i], err = h.text(data[i*h.width:][:h.width]); err != nil {
			return nil, err
		}
	}
	return t, nil
}

// text returns a string without the zeros that fill it up.
func (h *header) text(b []byte) (string, error) {
	if !h.runes {
		return string(bytes.TrimRight(b, "\x00")), nil
	}
	var order binary.ByteOrder = binary.LittleEndian
	if h.big {
		order = binary.BigEndian
	}
	var out strings.Builder
	pending := 0 // zeros that count only if something follows
	for ; len(b) >= 4; b = b[4:] {
		c := order.Uint32(b)
		if c == 0 {
			pending++
			continue
		}
		if c > 0x10ffff {
			return "", tf.Errorf(tf.DataLoss, "strings of an npy file must be Unicode, got code point %#x", c)
		}
		out.WriteString(strings.Repeat("\x00", pending))
		out.WriteRune(rune(c))
		pending = 0
	}
	return out.String(), nil
}
