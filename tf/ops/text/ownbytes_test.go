package text_test

import (
	"slices"
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/eager"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/ops/text"
)

// TestBytesOfICU: bytes for which tables of characters differ, as in TensorFlow 2.21.
func TestBytesOfICU(t *testing.T) {
	g := eager.New()
	for name, c := range map[string]struct {
		bytes string
		want  []int32
	}{
		"ISO-8859-2":   {"\x80\x97\x9f\xb1", []int32{0x80, 0x97, 0x9f, 0x105}},
		"ISO-8859-7":   {"\x85\xd2", []int32{0x85, 0xfffd}},
		"latin9":       {"\x90\xa4", []int32{0x90, 0x20ac}},
		"windows-1250": {"\x81\x98", []int32{0x81, 0x98}},
		"windows-1251": {"\x98\xc0", []int32{0x98, 0x410}},
		"windows-1252": {"\x80\x81\x8d\x9d", []int32{0x20ac, 0x81, 0x8d, 0x9d}},
		"windows-1253": {"\x81\xaa\xd2", []int32{0x81, 0xaa, 0xfffd}},
		"windows-1255": {"\x9f\xca\xd9", []int32{0x9f, 0xfffd, 0xfffd}},
		"ibm437":       {"\x1a\x1c\x7f\xe6", []int32{0x1c, 0x7f, 0x1a, 0x3bc}},
		"ibm852":       {"\x1aA\xaa", []int32{0x1c, 'A', 0xfffd}},
		"ibm866":       {"\x7f\x80", []int32{0x1a, 0x410}},
		"Shift_JIS":    {"\x1a\x1c\x7f\x80\xb1", []int32{0x1c, 0x7f, 0x1a, 0xfffd, 0xff71}},
		"EUC-JP":       {"\x80A\x9f", []int32{0x80, 'A', 0x9f}},
		"EUC-KR":       {"\x81A\x9f", []int32{0x81, 'A', 0x9f}},
		"windows-949":  {"\x80\xff", []int32{0x80, 0xf8f7}},
		"gb18030":      {"\x80", []int32{0xfffd}},
		"GBK":          {"\x80\xff", []int32{0x20ac, 0xf8f5}},
		"GB2312":       {"\x80\x81A", []int32{0x80, 0x81, 'A'}},
		"Big5":         {"\x80\xff", []int32{0x80, 0xf8f8}},
		"koi8-u":       {"\xae\xbe", []int32{0x255d, 0x256c}},
	} {
		x := ops.Const(g, []string{c.bytes}, 1)
		_, chars := text.UnicodeDecode(x, name)
		v, err := chars.Value()
		if err != nil || !slices.Equal(tf.Data[int32](v), c.want) {
			t.Errorf("%s: got %v, %v, want %v", name, v, err, c.want)
		}
	}
}
