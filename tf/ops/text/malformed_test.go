package text_test

import (
	"fmt"
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/eager"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/ops/text"
)

// TestMalformedAsianTexts: where characters begin in texts that are not well-formed, as
// TensorFlow 2.21 has it: what stands behind a byte that begins none is not lost.
func TestMalformedAsianTexts(t *testing.T) {
	for _, c := range []struct{ encoding, in, starts string }{
		{"big5", "\x41\x7F\x41\xFF\xFC", "0 1 2 3 4"},
		{"big5", "\x84\xC9\xFE\xA0\x30", "0 2 4"},
		{"big5", "\x7E\x7F\xA0\x30\xFD\xFF", "0 1 2 3 4 5"},
		{"big5", "\x30\x80\x8E\x84\xC9\x81", "0 1 2 4"},
		{"big5", "\xB0\x8F\xA0\xFF\x7F\x5C", "0 2 3 4 5"},
		{"euc-jp", "\xA0\x8E\x8E\x30\x7F\xFC", "0 1 2 3 4 5"},
		{"euc-jp", "\x30\x39\xFC\x7F\x40", "0 1 2 3 4"},
		{"euc-jp", "\xB0\x39\xFE\x81\xFE", "0 1 2 3 4"},
		{"euc-jp", "\x8E\x35\xFE\xFE", "0 1 2"},
		{"euc-jp", "\x80\x8E\x35\x39\xFD\x39", "0 1 2 3 4 5"},
		{"euc-kr", "\x40\xFD\x35\xFC\x41\xFE", "0 1 2 3 4 5"},
		{"euc-kr", "\x39\x35\x40\x35\xFC", "0 1 2 3 4"},
		{"euc-kr", "\xB0\xFF\xFF\x8E\x41\xFE", "0 2 3 4 5"},
		{"euc-kr", "\xA1\x7E\xFD\x30\x40\x39", "0 1 2 3 4 5"},
		{"euc-kr", "\x7F\xC9\xA0\xFF", "0 1 3"},
		{"gb18030", "\xFD\x7F\xB0\xC9", "0 1 2"},
		{"gb18030", "\xFE\x7F\x39\x5C\xB0", "0 1 2 3 4"},
		{"gb18030", "\xFF\x8E\x7F\x81", "0 1 2 3"},
		{"gb18030", "\x30\xA0\x39\xA0", "0 1"},
		{"gb18030", "\x30\xA1\x41\x8F\xFF", "0 1 3"},
		{"gb2312", "\x7F\xC9\x5C\x39\x35", "0 1 2 3 4"},
		{"gb2312", "\x8F\x7E\xB0\x8E", "0 1 2 3"},
		{"gb2312", "\x7F\xA0\x84\xA0", "0 1 2 3"},
		{"gb2312", "\x41\x7F\x81\xB0\xFF\xFC", "0 1 2 3 5"},
		{"gb2312", "\x30\x8E\xFD\xA0\xA0\x5C", "0 1 2 4 5"},
		{"gbk", "\xFD\xFE\xA0\xFF\x7E\xFC", "0 2 3 4 5"},
		{"gbk", "\xC9\x7E\xFD\x80\x8E\x7F", "0 2 4 5"},
		{"gbk", "\x39\xA0\x7F\xA1\x35\xFE", "0 1 2 3 4 5"},
		{"shift_jis", "\x41\xA1\xB0\x84", "0 1 2 3"},
		{"shift_jis", "\xFD\xB0\xFD\x7F\x8E\x8E", "0 1 2 3 4"},
		{"shift_jis", "\xFC\xFD\xA1\xFF\x30", "0 1 2 3 4"},
		{"shift_jis", "\xFC\xA0\x81\x7E\xFE\x7F", "0 2 4 5"},
		{"shift_jis", "\x84\xFF\x84\x39\x80", "0 1 2 3 4"},
		{"windows-949", "\xA0\x39\x41\x35\x7E", "0 1 2 3 4"},
		{"windows-949", "\xC9\x35\x84\x7E\x5C\xA0", "0 1 2 4 5"},
		{"windows-949", "\x5C\xA0\x81\xFD\x81", "0 1 3"},
		{"windows-949", "\xA0\xFE\xFC\x7F\xC9", "0 2 3 4"},
		{"windows-949", "\xC9\x40\x30\x7F\xFC\x8F", "0 2 3 4"},
	} {
		_, _, starts := text.UnicodeDecodeWithOffsets(ops.Const(eager.New(), []string{c.in}), c.encoding)
		v, err := starts.Value()
		if err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprint(tf.Data[int64](v)); got != "["+c.starts+"]" {
			t.Errorf("%s, %x: characters begin at %s, want [%s]", c.encoding, c.in, got, c.starts)
		}
	}
}

// TestMarkupBehindHalfACharacter: a quotation mark must not disappear into half a character
// before it.
func TestMarkupBehindHalfACharacter(t *testing.T) {
	for _, encoding := range []string{"shift_jis", "euc-jp", "euc-kr", "windows-949", "gbk", "gb2312", "big5"} {
		v, err := text.UnicodeTranscode(ops.Const(eager.New(), []string{"\xB1\"<"}), encoding, "UTF-8").Value()
		if err != nil {
			t.Fatal(err)
		}
		if got := tf.Data[string](v)[0]; got[len(got)-2:] != "\"<" {
			t.Errorf("%s: got %q", encoding, got)
		}
	}
}
