package core

import "time"

// A CollectiveKind says what devices do together. The numbers are TensorFlow's.
type CollectiveKind int32

// What devices do together.
const (
	ReduceCollective CollectiveKind = iota
	BroadcastCollective
	GatherCollective
	PermuteCollective
	AllToAllCollective
	ReduceScatterCollective
)

// A CollectiveGroup is a set of devices that do things together: as many as Size
// says that name the same key.
type CollectiveGroup struct {
	Key, Size int
	Rank      int // the place among them that a device asks for; -1: any
}

// A Collective is one device's part in what a group does.
type Collective struct {
	Name  string // of the node, for messages
	Kind  CollectiveKind
	Group CollectiveGroup
	// Joined says that the group has been formed before, by Join.
	Joined bool
	// Instance tells what the group does from all else that it does.
	Instance int
	// PerStep says that others may do something else under Instance in other steps.
	PerStep bool
	// Again says that this node has done it before, in another step. The shape
	// may be another one by now.
	Again bool
	// Merge is the op that makes one of two values, Final the one that is done
	// with the result and the size of the group; "": none.
	Merge, Final string
	Source       bool // it is this device's value that is broadcast
	// Offsets are the rings, by where each begins within a task, that values
	// go round; nil: they are chosen, at most MaxSubdivisions for a device, one
	// if that is -1, a fitting number if it is 0.
	Offsets         []int
	MaxSubdivisions int
	// Timeout bounds both how long the others are waited for and how long it
	// takes then; 0: nothing does.
	Timeout time.Duration

	In  *Tensor // nil where a broadcast is received
	Out *Tensor // to be filled; its memory may be that of In
}

// Collectives lets the nodes of steps do things together with those on other
// devices, of this task or others.
type Collectives interface {
	// Join waits until all devices of a group have joined it.
	Join(c *OpContext, g CollectiveGroup, timeout time.Duration) error
	// Do does the part of c's node and waits for its end. If it fails, so does
	// all else that is done together in the step.
	Do(c *OpContext, p *Collective) error
}
