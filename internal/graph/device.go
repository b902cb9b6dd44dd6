package graph

import "regexp"

// deviceName is how messages write devices. What programs may write is more lenient
// (tf.ParseDevice): like Python's API, graphs under construction put it into this form.
var deviceName = regexp.MustCompile(`^(/job:(\*|[A-Za-z]\w*)|/(replica|task):(\*|\d+)|/device:(\*|[A-Za-z]\w*)(:(\*|\d+))?|/(cpu|CPU|gpu|GPU):(\*|\d+))*$`)

// ValidDevice reports whether a node of a message may ask for the device.
func ValidDevice(name string) bool { return name == "/" || deviceName.MatchString(name) }
