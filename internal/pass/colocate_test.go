package pass

import (
	"testing"

	"github.com/gorge-tf/gorge/tf/core"
)

// TestPlaceLeavesClasses: sessions of one graph place it at once, and share its attributes.
func TestPlaceLeavesClasses(t *testing.T) {
	g := parse(t, "a = NoOp\nb = NoOp")
	classes := append(make([]string, 0, 2), "loc:@a")
	g.Node("b").Attrs["_class"] = classes
	d, err := core.ParseDevice("/job:localhost/replica:0/task:0/device:CPU:0")
	if err != nil {
		t.Fatal(err)
	}
	p := Placer{Devices: []DeviceInfo{{Spec: d, Local: true}}}
	if err := p.Place(g); err != nil {
		t.Fatal(err)
	}
	if behind := classes[:2][1]; behind != "" {
		t.Errorf("%q was written behind the classes", behind)
	}
}
