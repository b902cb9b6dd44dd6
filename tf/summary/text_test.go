package summary_test

import (
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/summary"
)

// TestTextThatIsNotUTF8 is refused: TensorBoard reads no message that has it, nor those of
// other runs in the same tab.
func TestTextThatIsNotUTF8(t *testing.T) {
	const bad = "a\xff"
	w, err := summary.NewFileWriter(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for i, err := range []error{
		w.HParams(map[string]any{bad: 1}, ""), w.HParams(map[string]any{"a": bad}, ""), w.HParams(map[string]any{"a": 1}, bad),
		w.Layout(summary.ChartCategory{Title: bad}),
		w.Layout(summary.ChartCategory{Charts: []summary.Chart{{Title: bad, Tags: []string{"a"}}}}),
		w.Layout(summary.ChartCategory{Charts: []summary.Chart{{Tags: []string{bad}}}}),
		w.Layout(summary.ChartCategory{Charts: []summary.Chart{{Margins: []summary.Margin{{Value: "a", Lower: "b", Upper: bad}}}}}),
		(&summary.Projector{ModelCheckpointPath: bad}).Write(t.TempDir()),
		(&summary.Projector{Embeddings: []summary.Embedding{{TensorName: bad}}}).Write(t.TempDir()),
		(&summary.Projector{Embeddings: []summary.Embedding{{SpriteImagePath: "a", SpriteSize: [2]int{1, -1}}}}).Write(t.TempDir()),
	} {
		if tf.CodeOf(err) != tf.InvalidArgument {
			t.Errorf("case %d: %v", i, err)
		}
	}
	if err := w.Close(); err != nil {
		t.Error(err)
	}
	if n := len(readEvents(t, w.Name())); n != 1 {
		t.Errorf("the file has %d events, want the first one", n)
	}
}

// TestHParamsOfAllNumbers: hyperparameters may be of any of Go's types of numbers.
func TestHParamsOfAllNumbers(t *testing.T) {
	w, err := summary.NewFileWriter(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range []any{1, int8(1), int16(1), int32(1), int64(1), uint(1), uint8(1), uint16(1), uint32(1), uint64(1), float32(1), 1.0} {
		if err := w.HParams(map[string]any{"n": v}, ""); err != nil {
			t.Errorf("%T: %v", v, err)
		}
	}
	if err := w.Close(); err != nil {
		t.Error(err)
	}
	for _, e := range readEvents(t, w.Name())[1:] {
		content := e.GetSummary().GetValue()[0].GetMetadata().GetPluginData().GetContent()
		const want = "\n\x0e\n\x01n\x12\x09\x11\x00\x00\x00\x00\x00\x00\xf0?" // {"n": 1.0}
		if got := string(content[2:][:len(want)]); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
