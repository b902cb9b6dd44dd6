// Package riegeli reads files of Riegeli's record format: the container of the
// chunked protocol buffers that TensorFlow calls .cpb.
//
// A file is a sequence of chunks. Each multiple of 64 KiB has a block header, which
// may lie within a chunk and is passed over. A chunk has a header with the hash and
// the size of its data, and holds records; a record's position is where its chunk
// begins, plus its index in the chunk. Both hashes are HighwayHash. Chunks may be
// compressed with Brotli, Zstandard or Snappy. Transposed chunks, which writers make
// on request only, are refused.
package riegeli
