package verbs

import "fmt"

// An Event is what happens to a device without having been asked for.
type Event struct {
	Kind EventKind
	QPN  uint32 // of QPFatal
	Text string // what the provider calls it
}

// An EventKind says what has to react to an event, and how.
type EventKind int

// The kinds of events.
const (
	EventOther      EventKind = iota // worth a line in the log
	EventPortActive                  // the port carries packets again
	EventPortDown                    // and does not
	EventQPFatal                     // a queue pair has failed
	EventDeviceLost                  // the device or its completions are gone for good
)

// String is the event's own text, or the name of its kind.
func (e Event) String() string {
	if e.Text != "" {
		return e.Text
	}
	return fmt.Sprintf("event of kind %d", int(e.Kind))
}
