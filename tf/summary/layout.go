package summary

import (
	"google.golang.org/protobuf/encoding/protowire"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/pb"
)

// A ChartCategory is a section of TensorBoard's tab of custom scalars.
type ChartCategory struct {
	Title  string
	Charts []Chart
	Closed bool // shown closed at first
}

// A Chart shows several scalars of a run together: lines, or lines with margins.
type Chart struct {
	Title string
	// Tags are regular expressions, of Python's kind. Each scalar whose tag one of
	// them matches is a line.
	Tags []string
	// Margins are lines with the area between two others around them.
	Margins []Margin
}

// A Margin names the tags of three scalars.
type Margin struct {
	Value, Lower, Upper string
}

// Layout adds the layout of TensorBoard's tab of custom scalars. Categories of the same
// title, of several runs, are shown as one. A chart with both tags and margins, or neither, and text
// that is not UTF-8 are refused with INVALID_ARGUMENT.
func (w *FileWriter) Layout(categories ...ChartCategory) error {
	var layout []byte
	for _, c := range categories {
		m, err := c.message()
		if err != nil {
			return err
		}
		layout = appendMessage(layout, 2, m)
	}
	v := &pb.Summary_Value{
		Tag:      "custom_scalars__config__",
		Metadata: &pb.SummaryMetadata{PluginData: &pb.SummaryMetadata_PluginData{PluginName: "custom_scalars"}},
		Value:    &pb.Summary_Value_Tensor{Tensor: &pb.TensorProto{Dtype: pb.DataType_DT_STRING, TensorShape: &pb.TensorShapeProto{}, StringVal: [][]byte{layout}}},
	}
	return w.now(0, &pb.Event{What: &pb.Event_Summary{Summary: &pb.Summary{Value: []*pb.Summary_Value{v}}}})
}

// message is the category as a message of TensorBoard's layout.proto.
func (c *ChartCategory) message() ([]byte, error) {
	for _, s := range c.texts() {
		if err := checkText("a layout", s); err != nil {
			return nil, err
		}
	}
	b := appendText(nil, 1, c.Title)
	for _, chart := range c.Charts {
		m, err := chart.message()
		if err != nil {
			return nil, err
		}
		b = appendMessage(b, 2, m)
	}
	if c.Closed {
		b = protowire.AppendVarint(protowire.AppendTag(b, 3, protowire.VarintType), 1)
	}
	return b, nil
}

// texts are all that a category has of text.
func (c *ChartCategory) texts() []string {
	all := []string{c.Title}
	for _, chart := range c.Charts {
		all = append(append(all, chart.Title), chart.Tags...)
		for _, m := range chart.Margins {
			all = append(all, m.Value, m.Lower, m.Upper)
		}
	}
	return all
}

func (c *Chart) message() ([]byte, error) {
	if (len(c.Tags) == 0) == (len(c.Margins) == 0) {
		return nil, tf.Errorf(tf.InvalidArgument, "a chart must have either tags or margins, %q has %d and %d", c.Title, len(c.Tags), len(c.Margins))
	}
	b, lines, margins := appendText(nil, 1, c.Title), []byte(nil), []byte(nil)
	for _, tag := range c.Tags {
		lines = appendText(lines, 1, tag)
	}
	for _, m := range c.Margins {
		margins = appendMessage(margins, 1, appendText(appendText(appendText(nil, 1, m.Value), 2, m.Lower), 3, m.Upper))
	}
	if len(c.Tags) > 0 {
		return appendMessage(b, 2, lines), nil
	}
	return appendMessage(b, 3, margins), nil
}

func appendText(b []byte, field protowire.Number, s string) []byte {
	return protowire.AppendString(protowire.AppendTag(b, field, protowire.BytesType), s)
}

func appendMessage(b []byte, field protowire.Number, m []byte) []byte {
	return protowire.AppendBytes(protowire.AppendTag(b, field, protowire.BytesType), m)
}
