package rendezvous

import (
	"strings"

	"github.com/gorge-tf/gorge/tf/core"
)

// CheckSource reports whether a task can serve a receive of k by another task:
// it has the device that sends, in the life that the receiver means. A task
// that was restarted has not. Which task the key names does not matter: in
// sessions that bring their own cluster this one has another name.
func CheckSource(k Key, devices Devices, task string) error {
	_, local, _ := strings.Cut(k.Src, "/device:")
	d := devices.Lookup(task + "/device:" + local)
	if d == nil {
		return core.Errorf(core.InvalidArgument, "/device:%s unknown device.", local)
	}
	if d.Incarnation() != k.SrcIncarnation {
		return core.Errorf(core.Aborted, `RecvTensor expects a different device incarnation: %d vs. %d. Your worker job ("%s") was probably restarted. Check your worker job for the reason why it was restarted.`,
			k.SrcIncarnation, d.Incarnation(), task)
	}
	return nil
}
