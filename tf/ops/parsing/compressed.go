package parsing

import (
	"bytes"
	"compress/gzip"
	"compress/zlib"
	"errors"
	"io"
	"strings"

	"github.com/klauspost/compress/zstd"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

func init() {
	register("DecodeCompressed", "bytes: string", "output: string", "compression_type: string = ''", sameShape, core.AnyType(decodeCompressed))
}

// Compression is the optional attribute of DecodeCompressed: "", "ZLIB", "GZIP"
// or "ZSTD".
type Compression string

// Apply sets the attribute.
func (c Compression) Apply(s *tf.Spec) { s.Set("compression_type", string(c)) }

// DecodeCompressed decompresses strings. The formats are zlib (RFC 1950),
// gzip (RFC 1952) and zstd (RFC 8878). As in TensorFlow, of what zlib or gzip
// made and what was cut off, it returns the beginning; a frame of zstd has to
// be whole, the only one, and tell its size. The result has the shape of
// bytes, which holds strings. An unknown compression and a frame of zstd that
// is damaged are refused with INVALID_ARGUMENT in the step, a damaged stream
// of zlib or gzip with DATA_LOSS. Without a compression the strings stay as
// they are. Its options are [Compression].
func DecodeCompressed(bytes tf.Output, opts ...tf.Option) tf.Output {
	return apply("DecodeCompressed", opts, bytes)
}

// decompressors undo a compression.
var decompressors = map[string]func(string) (string, error){
	"":     func(s string) (string, error) { return s, nil },
	"ZLIB": func(s string) (string, error) { return inflate(s, unzlib) },
	"GZIP": func(s string) (string, error) { return inflate(s, gunzip) },
	"ZSTD": unzstd,
}

func decodeCompressed(n *core.Node) (core.Kernel, error) {
	decompress := decompressors[n.Str("compression_type")]
	if decompress == nil {
		return nil, tf.Errorf(tf.InvalidArgument, "Only ZLIB, ZSTD, GZIP or NONE are supported compressions")
	}
	return core.Compute(func(c *core.OpContext) error {
		t, err := c.Alloc(0, tf.String, c.Input(0).Shape())
		if err != nil {
			return err
		}
		out := core.Data[string](t)
		for i, s := range core.Data[string](c.Input(0)) {
			if out[i], err = decompress(s); err != nil {
				return err
			}
		}
		return nil
	}), nil
}

// inflate returns as much as there is of what zlib's library made.
func inflate(s string, into func(*bytes.Buffer, *strings.Reader) error) (string, error) {
	var b bytes.Buffer
	err := into(&b, strings.NewReader(s))
	if core.Exhausted(err) {
		return "", err
	}
	if err == nil || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return b.String(), nil
	}
	return "", &tf.Error{Code: tf.DataLoss, Msg: "inflate() failed with error -3: " + inflateReason(err), Err: err}
}

func unzlib(b *bytes.Buffer, s *strings.Reader) error {
	r, err := zlib.NewReader(s)
	if err == nil {
		err = core.CopyTo(b, r)
	}
	return err
}

// gunzip decompresses one member after the other. Its own look at their first
// bytes tells what is no member from one that was cut off in its header.
func gunzip(b *bytes.Buffer, s *strings.Reader) error {
	for s.Len() > 0 {
		var first [2]byte
		if n, _ := s.ReadAt(first[:], s.Size()-int64(s.Len())); string(first[:n]) != "\x1f\x8b"[:n] {
			return gzip.ErrHeader
		}
		r, err := gzip.NewReader(s)
		if err != nil {
			return err
		}
		r.Multistream(false)
		if err = core.CopyTo(b, r); err != nil {
			return err
		}
	}
	return nil
}

// inflateReason is zlib's name for what is wrong, where it has only one.
func inflateReason(err error) string {
	switch {
	case errors.Is(err, zlib.ErrHeader), errors.Is(err, gzip.ErrHeader):
		return "incorrect header check"
	case errors.Is(err, zlib.ErrChecksum), errors.Is(err, gzip.ErrChecksum):
		return "incorrect data check"
	}
	return err.Error()
}

const (
	// zstdBlock is the most that a block of zstd makes, of zstdRLE bytes at the
	// least (RFC 8878, 3.1.1.2).
	zstdBlock = 128 << 10
	zstdRLE   = 4
)

// unzstd decompresses one frame, which tells its size.
func unzstd(s string) (string, error) {
	var h zstd.Header
	if err := h.Decode([]byte(s)); err != nil || !h.HasFCS && !h.Skippable {
		return "", &tf.Error{Code: tf.InvalidArgument, Msg: "Failed to determine decompressed size", Err: err}
	}
	size := h.FrameContentSize
	if size/zstdBlock > uint64(len(s)/zstdRLE) {
		return "", tf.Errorf(tf.InvalidArgument, "Failed to decompress zstd input: Src size is incorrect: %d bytes cannot become %d", len(s), size)
	}
	d, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecodeAllCapLimit(true))
	if err != nil {
		return "", tf.Errorf(tf.Internal, "Failed to create zstd context: %v", err)
	}
	defer d.Close()
	b, err := d.DecodeAll([]byte(s), core.Make[byte](int(size))[:0])
	if err != nil {
		return "", &tf.Error{Code: tf.InvalidArgument, Msg: "Failed to decompress zstd input: " + zstdReason(err), Err: err}
	}
	return string(b), nil
}

// zstdReason is the reference library's name for what is wrong, where it has
// only one.
func zstdReason(err error) string {
	switch {
	case errors.Is(err, zstd.ErrDecoderSizeExceeded):
		return "Destination buffer is too small"
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, zstd.ErrMagicMismatch):
		return "Src size is incorrect"
	case errors.Is(err, zstd.ErrCRCMismatch):
		return "Restored data doesn't match checksum"
	}
	return err.Error()
}
