package core

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// A DeviceSpec is a device name, each part of which may be left open:
// "/job:ps/replica:0/task:1/device:CPU:0". Numbers are -1 where open.
type DeviceSpec struct {
	Job     string
	Replica int
	Task    int
	Type    string
	ID      int
}

// AnyDevice is the spec in which all is open.
var AnyDevice = DeviceSpec{Replica: -1, Task: -1, ID: -1}

var (
	jobName    = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_]*$`)
	deviceType = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_]*$`)
)

// ParseDevice reads a full or partial device name; "*" leaves a part open. Types of devices
// are as written, "cpu" is not "CPU", but for the short forms "/cpu:0" and "/gpu:0": as
// TensorFlow's runtime has it. Programs may write either, see tf.ParseDevice.
func ParseDevice(s string) (DeviceSpec, error) {
	d := AnyDevice
	for part := range strings.SplitSeq(s, "/") {
		if part == "" {
			continue
		}
		if err := d.parsePart(part); err != nil {
			return AnyDevice, Errorf(InvalidArgument, "Malformed device specification '%s': %v", s, err)
		}
	}
	return d, nil
}

func (d *DeviceSpec) parsePart(part string) error {
	key, val, _ := strings.Cut(part, ":")
	switch strings.ToLower(key) {
	case "job":
		if val != "*" && !jobName.MatchString(val) {
			return fmt.Errorf("bad job name %q", val)
		}
		d.Job = strings.TrimSuffix(val, "*")
		return nil
	case "replica":
		return parseNumber(&d.Replica, val)
	case "task":
		return parseNumber(&d.Task, val)
	case "device":
		return d.parseType(val)
	case "cpu", "gpu":
		return d.parseType(strings.ToUpper(key) + ":" + val)
	}
	return fmt.Errorf("unknown part %q", part)
}

func (d *DeviceSpec) parseType(val string) error {
	typ, id, hasID := strings.Cut(val, ":")
	if typ != "*" {
		if !deviceType.MatchString(typ) {
			return fmt.Errorf("bad device type %q", typ)
		}
		d.Type = typ
	}
	if !hasID {
		return nil
	}
	return parseNumber(&d.ID, id)
}

func parseNumber(n *int, s string) error {
	if s == "*" {
		*n = -1
		return nil
	}
	v, err := strconv.Atoi(s)
	if err != nil || v < 0 || s[0] == '+' {
		return fmt.Errorf("bad number %q", s)
	}
	*n = v
	return nil
}

// String returns the canonical text of d: only the parts that are set.
func (d DeviceSpec) String() string {
	var b strings.Builder
	if d.Job != "" {
		b.WriteString("/job:" + d.Job)
	}
	if d.Replica >= 0 {
		fmt.Fprintf(&b, "/replica:%d", d.Replica)
	}
	if d.Task >= 0 {
		fmt.Fprintf(&b, "/task:%d", d.Task)
	}
	if d.Type == "" && d.ID < 0 {
		return b.String()
	}
	typ := d.Type
	if typ == "" {
		typ = "*"
	}
	b.WriteString("/device:" + typ)
	if d.ID >= 0 {
		fmt.Fprintf(&b, ":%d", d.ID)
	} else {
		b.WriteString(":*")
	}
	return b.String()
}

// Override returns d with the parts that over sets taken from there: what an
// inner device scope does to an outer one.
func (d DeviceSpec) Override(over DeviceSpec) DeviceSpec {
	if over.Job != "" {
		d.Job = over.Job
	}
	if over.Replica >= 0 {
		d.Replica = over.Replica
	}
	if over.Task >= 0 {
		d.Task = over.Task
	}
	if over.Type != "" {
		d.Type = over.Type
	}
	if over.ID >= 0 {
		d.ID = over.ID
	}
	return d
}

// Merge returns what d and e ask for together, and whether they agree.
func (d DeviceSpec) Merge(e DeviceSpec) (DeviceSpec, bool) {
	m := d.Override(e)
	return m, m == e.Override(d)
}

// Matches reports whether device full is one of those that d describes.
func (d DeviceSpec) Matches(full DeviceSpec) bool { return full.Override(d) == full }

// Full reports whether d names exactly one device.
func (d DeviceSpec) Full() bool {
	return d.Job != "" && d.Replica >= 0 && d.Task >= 0 && d.Type != "" && d.ID >= 0
}

// TaskName returns the part of d that names a task.
func (d DeviceSpec) TaskName() string { d.Type, d.ID = "", -1; return d.String() }

// A Device computes nodes and holds tensors and resources.
type Device interface {
	// Spec returns the full name.
	Spec() DeviceSpec
	// Incarnation tells this life of the device from earlier ones.
	Incarnation() uint64
	// MemoryLimit returns the bytes of memory there are, 0 if not known.
	MemoryLimit() int64
	// Resources holds the device's variables, queues and tables.
	Resources() *Resources
	// FromHost copies a tensor in the host's memory to the device; ToHost
	// copies it back. A device that shares the host's memory returns t.
	FromHost(t *Tensor) (*Tensor, error)
	ToHost(t *Tensor) (*Tensor, error)
}
