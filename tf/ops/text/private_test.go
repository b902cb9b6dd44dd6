package text_test

import (
	"slices"
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/eager"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/ops/text"
)

// TestCharactersOfUsers: the first and the last ones of the areas for users, as in
// TensorFlow 2.21.
func TestCharactersOfUsers(t *testing.T) {
	chinese := []int32{0xE000, 0xE233, 0xE234, 0xE4C5, 0xE4C6, 0xE765}
	for encoding, c := range map[string]struct {
		in   string
		want []int32
	}{
		"Shift_JIS":   {"\xF0\x40\xF0\x80\xF9\xFC", []int32{0xE000, 0xE03F, 0xE757}},
		"windows-949": {"\xC9\xA1\xC9\xFE\xFE\xA1\xFE\xFE", []int32{0xE000, 0xE05D, 0xE05E, 0xE0BB}},
		"EUC-KR":      {"\xC9\xA1\xFE\xFE", []int32{0xE000, 0xE0BB}},
		"GBK":         {"\xAA\xA1\xAF\xFE\xF8\xA1\xFE\xFE\xA1\x40\xA7\xA0", chinese},
		"gb18030":     {"\xAA\xA1\xAF\xFE\xF8\xA1\xFE\xFE\xA1\x40\xA7\xA0", chinese},
		"Big5": {
			"\xFA\x40\xFE\xFE\x8E\x40\xA0\xFE\x81\x40\x8D\xFE\xC6\xA1\xC8\xFE",
			[]int32{0xE000, 0xE310, 0xE311, 0xEEB7, 0xEEB8, 0xF6B0, 0xF6B1, 0xF848},
		},
	} {
		_, chars := text.UnicodeDecode(ops.Const(eager.New(), []string{c.in}), encoding)
		v, err := chars.Value()
		if err != nil || !slices.Equal(tf.Data[int32](v), c.want) {
			t.Errorf("%s: got %v, %v, want %x", encoding, v, err, c.want)
		}
	}
}

// TestMarksOfICU: the middle dot and the dash of GB2312, among others, as in TensorFlow 2.21.
func TestMarksOfICU(t *testing.T) {
	for encoding, c := range map[string][2]string{
		"GB2312": {"\xA1\xA4\xA1\xAA\xA3\xA7\xFE\xE0\xB0\xA1", "・―´ⅰ啊"},
		"EUC-JP": {"\x8E\xB1\x8E\xE0\x8E\xE1\x8E\xE2", "ｱ¢£¬"},
		"EUC-KR": {"\xA2\xE5\xA2\xE6\xA2\xE7", "℡��"},
		"Big5":   {"\xF9\xFE", "▓"},
	} {
		v, err := text.UnicodeTranscode(ops.Const(eager.New(), []string{c[0]}), encoding, "UTF-8").Value()
		if err != nil || tf.Data[string](v)[0] != c[1] {
			t.Errorf("%s: got %v, %v, want %s", encoding, v, err, c[1])
		}
	}
}
