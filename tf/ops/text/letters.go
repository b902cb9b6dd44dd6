package text

import (
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/ops"
)

// BytesSplit returns the bytes of each string of a vector, as strings of one
// byte. An x that is no vector is refused with INVALID_ARGUMENT, when the
// graph is built if its shape is known, else in the step. The results are
// those of [StringSplit].
func BytesSplit(x tf.Output) Parts {
	if x.Err() != nil {
		return Parts{x, x, x}
	}
	return StringSplit(x, ops.Scalar(x.Graph(), ""))
}

// UnicodeSplit returns the characters of each string of x, in the encoding
// that it is in, as strings in UTF-8: chars, of which row i of the strings, in
// row-major order, has those from splits[i] to splits[i+1]. Options are those
// of UnicodeDecode. Splits is a vector int64 unless the attribute Tsplits says
// int32. Errors are those of UnicodeDecode.
func UnicodeSplit(x tf.Output, from string, opts ...tf.Option) (splits, chars tf.Output) {
	splits, points := UnicodeDecode(x, from, opts...)
	return splits, single(points)
}

// UnicodeSplitWithOffsets is UnicodeSplit with the byte at which each
// character begins in its string. Starts is an int64 vector as long as chars.
// Options and errors are those of UnicodeDecodeWithOffsets.
func UnicodeSplitWithOffsets(x tf.Output, from string, opts ...tf.Option) (splits, chars, starts tf.Output) {
	splits, points, starts := UnicodeDecodeWithOffsets(x, from, opts...)
	return splits, single(points), starts
}

// single encodes each code point as a string of its own.
func single(points tf.Output) tf.Output {
	if points.Err() != nil {
		return points
	}
	g := points.Graph()
	n := ops.Size(points, ops.ShapeOpts{OutType: tf.Int64})
	rows := ops.Range(nil, ops.Scalar[int64](g, 0), n.Add(ops.Scalar[int64](g, 1)), ops.Scalar[int64](g, 1))
	return UnicodeEncode(points, rows, "UTF-8")
}
