package rendezvous

import (
	"strings"
	"testing"

	"github.com/gorge-tf/gorge/tf/core"
)

func TestCheckSource(t *testing.T) {
	devices := fakes(nil)
	for _, c := range []struct {
		k    Key
		code core.Code
		text string
	}{
		{Key{Src: fake0, SrcIncarnation: 9}, core.OK, ""},
		{Key{Src: "/job:renamed/replica:0/task:7" + strings.TrimPrefix(fake0, worker0), SrcIncarnation: 9}, core.OK, ""},
		{Key{Src: cpu0, SrcIncarnation: 9}, core.InvalidArgument, strings.TrimPrefix(cpu0, worker0) + " unknown device."},
		{Key{Src: fake0, SrcIncarnation: 8}, core.Aborted, `RecvTensor expects a different device incarnation: 8 vs. 9. ` +
			`Your worker job ("/job:worker/replica:0/task:0") was probably restarted. Check your worker job for the reason why it was restarted.`},
	} {
		err := CheckSource(c.k, devices, worker0)
		if core.CodeOf(err) != c.code || err != nil && core.AsError(err).Message() != c.text {
			t.Errorf("CheckSource(%+v) = %v, want %v %q", c.k, err, c.code, c.text)
		}
	}
}
