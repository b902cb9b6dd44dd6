// Package graphtext reads and writes graphs as short text, for tests and for
// people: one node a line,
//
//	name = Op[attr=value, ...](input, input:1, ^control) @device
//
// where everything but "name = Op" may be left out. Attributes that have their
// default value, or that follow from the inputs, are not written. What follows
// "#" is a comment. Values are written by kind: "text", 12, 1.5, true, float32,
// shapes as [2,?] or <unknown>, tensors as float32[2]{1, 2}, lists as (a, b).
package graphtext
