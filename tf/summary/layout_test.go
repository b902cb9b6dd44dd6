package summary_test

import (
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/summary"
)

// TestLayout compares a layout with what TensorBoard 2.21 makes of the same one.
func TestLayout(t *testing.T) {
	w, err := summary.NewFileWriter(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	both := summary.Chart{Title: "both", Tags: []string{"loss/train", "loss/.*"}}
	bounds := summary.Chart{Title: "bounds", Margins: []summary.Margin{{Value: "m", Lower: "lo", Upper: "hi"}}}
	if err := w.Layout(summary.ChartCategory{Title: "losses", Charts: []summary.Chart{both, bounds}}, summary.ChartCategory{Title: "more", Closed: true}); err != nil {
		t.Error(err)
	}
	for _, bad := range []summary.Chart{{Title: "nothing"}, {Tags: both.Tags, Margins: bounds.Margins}} {
		if err := w.Layout(summary.ChartCategory{Charts: []summary.Chart{both, bad}}); tf.CodeOf(err) != tf.InvalidArgument {
			t.Errorf("%+v: %v", bad, err)
		}
	}
	if err := w.Close(); err != nil {
		t.Error(err)
	}
	events := readEvents(t, w.Name())
	v := events[len(events)-1].GetSummary().GetValue()[0]
	const want = "\x12@\n\x06losses\x12\x1d\n\x04both\x12\x15\n\nloss/train\n\x07loss/.*\x12\x17\n\x06bounds\x1a\r\n\x0b\n\x01m\x12\x02lo\x1a\x02hi\x12\x08\n\x04more\x18\x01"
	if len(events) != 2 || v.GetTag() != "custom_scalars__config__" || v.GetMetadata().GetPluginData().GetPluginName() != "custom_scalars" || string(v.GetTensor().GetStringVal()[0]) != want {
		t.Errorf("%d events, the last of them %v", len(events), v)
	}
	if err := w.Layout(); tf.CodeOf(err) != tf.FailedPrecondition {
		t.Errorf("after Close: %v", err)
	}
}
