// Package bundle reads and writes the files of checkpoints in TensorFlow's two
// formats.
//
// A bundle (format V2) of prefix P is a table of entries, P.index, and files of
// data, P.data-00000-of-00001 and so on: tensors one after the other as they lie
// in memory, each with a checksum in its entry. A tensor that is saved in parts,
// by several writers perhaps, has an entry that lists its slices, each of which
// is an entry of its own. [Merge] makes one bundle of those that several
// writers have made.
//
// A slice file (format V1) is one table that has the data as well.
//
// Tables are those of LevelDB: blocks of sorted keys and values, and a block
// that says where they are. Bytes from files are never trusted: sizes are
// checked against the files before memory is asked for.
package bundle
