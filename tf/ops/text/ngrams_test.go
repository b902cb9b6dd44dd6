package text_test

import (
	"testing"

	"github.com/gorge-tf/gorge/internal/memory"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/eager"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/ops/text"
)

// TestWidthsBeyondRows: a width of which there is no n-gram takes no memory.
func TestWidthsBeyondRows(t *testing.T) {
	defer memory.Limit(1 << 26)()
	g := eager.New()
	words, splits := ops.Const(g, []string{"a", "b"}, 2), ops.Const(g, []int64{0, 2}, 2)
	_, ends := text.StringNGrams(words, splits, text.NGrams{Widths: []int{1 << 30}, PadWidth: 7})
	if v, err := ends.Value(); err != nil || tf.Data[int64](v)[1] != 0 {
		t.Errorf("got %v, %v, want no n-grams", v, err)
	}
}
