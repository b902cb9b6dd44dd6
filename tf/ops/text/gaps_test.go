package text_test

import (
	"slices"
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/eager"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/ops/text"
)

// TestGapsOfPages: what pages of two bytes leave open, as in TensorFlow 2.21.
func TestGapsOfPages(t *testing.T) {
	for encoding, c := range map[string]struct {
		in   string
		want []int32
	}{
		"GBK":     {"\xA2\xAB\xA2\xE3\xA9\x89\xFE\x7E\xFE\x80\xD7\xFE", []int32{0xE766, 0xE76C, 0xE7E7, 0xE843, 0xE844, 0xE814}},
		"gb18030": {"\xA2\xAB\xA2\xE3\xA2\xE4\xA8\xBC\x81\x35\xF4\x37\xFE\x59", []int32{0xE766, '€', 0xE76D, 0x1E3F, 0xE7C7, 0xE81E}},
		"GB2312":  {"\xA2\xA1\xAF\xFE\xF8\xA1\xFD\xFE\xFE\xB0\xFE\xFE", []int32{0xE000, 0xE2D7, 0xE2DD, 0xE510, 0xE520, '▼'}},
		"EUC-JP":  {"\x8F\xF3\xA1\x8F\xF3\xB4\x8F\xF3\xB7", []int32{'ⅰ', 'Ⅹ', '㈱'}},
		"Big5":    {"\xA3\xC0\xA3\xE0", []int32{0xFFFD, 0xFFFD}},
	} {
		_, chars := text.UnicodeDecode(ops.Const(eager.New(), []string{c.in}), encoding)
		v, err := chars.Value()
		if err != nil || !slices.Equal(tf.Data[int32](v), c.want) {
			t.Errorf("%s: got %v, %v, want %x", encoding, v, err, c.want)
		}
	}
}
