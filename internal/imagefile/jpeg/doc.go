// Package jpeg reads and writes JPEG files. Pixels are to the bit those of
// libjpeg-turbo: its fast and its accurate transforms, its reduced ones, its
// smooth and its plain upsampling, its colors, and what it makes of files that
// are damaged or end early. The standard library's decoder knows none of these
// choices, and gives up where libjpeg goes on.
package jpeg
