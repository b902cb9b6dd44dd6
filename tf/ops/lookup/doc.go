// Package lookup holds TensorFlow's lookup tables (tf.lookup): maps from keys
// to values that live on a device, are filled once or changed by operations,
// and are shared by name.
//
// Tables are made for keys of int32, int64 and string. HashTableV2 is filled
// once, by InitializeTableV2 or from a text file; the mutable tables take
// insertions, removals and imports at any time.
package lookup
