package rendezvous

import "github.com/gorge-tf/gorge/tf"

// CheckSource reports whether a task can serve a receive of k by another task:
// it has the device that sends, in the life that the receiver means. A task
// that was restarted has not.
func CheckSource(k Key, devices Devices, task string) error {
	d := devices.Lookup(k.Src)
	if d == nil {
		return tf.Errorf(tf.InvalidArgument, "%s unknown device.", k.Src)
	}
	if d.Incarnation() != k.SrcIncarnation {
		return tf.Errorf(tf.Aborted, `RecvTensor expects a different device incarnation: %d vs. %d. Your worker job ("%s") was probably restarted. Check your worker job for the reason why it was restarted.`,
			k.SrcIncarnation, d.Incarnation(), task)
	}
	return nil
}
