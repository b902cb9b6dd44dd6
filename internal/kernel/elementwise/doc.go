// Package elementwise holds the loops that compute each element of a result from the
// elements at the same place of their operands: arithmetic, comparisons, functions,
// conversions between types, and [Broadcast], which says what the same place is for
// operands of different shapes.
//
// Loops on float32, and some on float64, run in assembly where the processor has it;
// others run as machine code made when they are first called ([Compiled]), where the system
// allows that. 16-bit floats are widened to float32 block by block ([Widen1], [Widen2]).
// Results may overlap operands only where they are the same slice.
package elementwise
