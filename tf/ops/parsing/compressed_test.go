package parsing_test

import (
	"bytes"
	"compress/gzip"
	"compress/zlib"
	"io"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/eager"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/ops/parsing"
	"github.com/gorge-tf/gorge/tf/optest"
)

func compressed(w func(io.Writer) io.WriteCloser) string {
	var b bytes.Buffer
	z := w(&b)
	_, _ = io.WriteString(z, strings.Repeat("a text that repeats, ", 20))
	_ = z.Close()
	return b.String()
}

// zstandard returns the text as one frame, which tells its size, with a checksum.
func zstandard(text string) string {
	w, _ := zstd.NewWriter(nil, zstd.WithSingleSegment(true))
	return string(w.EncodeAll([]byte(text), nil))
}

func init() {
	unpack := func(c parsing.Compression) function {
		return one(func(x tf.Output) tf.Output { return parsing.DecodeCompressed(x, c) })
	}
	add("DecodeCompressed", "", unpack(""), optest.Vec("a", "b"))
	zl := compressed(func(w io.Writer) io.WriteCloser { return zlib.NewWriter(w) })
	gz := compressed(func(w io.Writer) io.WriteCloser { return gzip.NewWriter(w) })
	zs := zstandard(strings.Repeat("a text that repeats, ", 20))
	add("DecodeCompressed", "zlib", unpack("ZLIB"), optest.Vec(zl, "", zl[:len(zl)-6], zl[:1], zl+"more", zl+zl))
	add("DecodeCompressed", "gzip", unpack("GZIP"), optest.Vec(gz, "", gz[:len(gz)-6], gz[:5], gz+gz, gz+gz[:7]))
	skippable := "\x50\x2a\x4d\x18\x02\x00\x00\x00ab"
	add("DecodeCompressed", "zstd", unpack("ZSTD"), optest.Mat(2, zs, zstandard("a"), skippable, zs))
	bad := func(c parsing.Compression, name, s string) { fails("DecodeCompressed", name, unpack(c), optest.Vec(s)) }
	bad("SNAPPY", "kind", "")
	bad("ZLIB", "zlib header", "nonsense")
	bad("ZLIB", "zlib checksum", zl[:len(zl)-1]+"?")
	bad("GZIP", "gzip header", "no")
	bad("GZIP", "gzip more", gz+"more")
	bad("GZIP", "gzip checksum", gz[:len(gz)-6]+"?"+gz[len(gz)-5:])
	bad("ZSTD", "zstd empty", "")
	bad("ZSTD", "zstd magic", "nonsense")
	bad("ZSTD", "zstd cut off", zs[:len(zs)-6])
	bad("ZSTD", "zstd more", zs+"garbage")
	bad("ZSTD", "zstd twice", zs+zs)
	bad("ZSTD", "zstd skipped", skippable+zs)
	bad("ZSTD", "zstd checksum", zs[:len(zs)-1]+"?")
	bad("ZSTD", "zstd no size", "\x28\xb5\x2f\xfd\x00\x58\x11\x00\x00hi")
}

// A few bytes that promise a terabyte get an error, and no memory first.
// TensorFlow, which allocates what is promised, cannot be asked.
func TestZstdThatPromisesTooMuch(t *testing.T) {
	hostile := "\x28\xb5\x2f\xfd\xe0\x00\x00\x00\x00\x00\x01\x00\x00\x11\x00\x00hi"
	_, err := parsing.DecodeCompressed(ops.Const(eager.New(), []string{hostile}), parsing.Compression("ZSTD")).Value()
	if tf.CodeOf(err) != tf.InvalidArgument || !strings.Contains(err.Error(), "Failed to decompress zstd input: Src size is incorrect") {
		t.Errorf("got %v", err)
	}
}
