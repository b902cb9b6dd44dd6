package layout

import (
	"fmt"
	"testing"

	"github.com/gorge-tf/gorge/internal/kernel/elementwise"
	"github.com/gorge-tf/gorge/internal/kernel/kerneltest"
)

func TestCopyBroadcastAndTile(t *testing.T) {
	b, ok := elementwise.NewBroadcastTo([]int{2, 3, 2}, []int{3, 1})
	if !ok {
		t.Fatal("[3,1] does not broadcast to [2,3,2]")
	}
	got := make([]string, 12)
	elementwise.CopyBroadcast(kerneltest.Pieces, b, got, []string{"a", "b", "c"})
	if want := "[a a b b c c a a b b c c]"; fmt.Sprint(got) != want {
		t.Errorf("broadcast %v, want %v", got, want)
	}
	got = make([]string, 12)
	Tile(kerneltest.Pieces, got, []string{"a", "b", "c", "d", "e", "f"}, []int{2, 3}, []int{1, 2})
	if want := "[a b c a b c d e f d e f]"; fmt.Sprint(got) != want {
		t.Errorf("tiled %v, want %v", got, want)
	}
	Tile(kerneltest.Pieces, got, []string{"a", "b", "c"}, []int{3}, []int{4})
	if want := "[a b c a b c a b c a b c]"; fmt.Sprint(got) != want {
		t.Errorf("tiled %v, want %v", got, want)
	}
}
