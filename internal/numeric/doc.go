// Package numeric holds the number formats of tensors: constraints that list the
// types that loops are written for, the 16-bit floats [Half] and [BFloat16], which are
// kept in integers and computed with in float32, floats of 8 bits, the least and
// greatest number of each type, and which numbers texts spell.
package numeric
