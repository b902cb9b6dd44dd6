// Package record reads and writes TFRecord streams: the container of training
// examples and of event files.
//
// A record is
//
//	uint64  length of the data
//	uint32  masked CRC-32C of the eight bytes above
//	        data
//	uint32  masked CRC-32C of the data
//
// all little-endian. A stream has no header, so streams concatenate, and
// compressed ones are an ordinary gzip or zlib stream around the whole.
package record
