// Package layout holds the loops that move elements and compute nothing, or only add
// them up where several meet: copies between strides, transposition, padding, tiles,
// gathering and scattering of rows.
package layout
