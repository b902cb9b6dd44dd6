// Package debug holds the operations that TensorFlow's debugger puts on edges of a graph:
// copies, identities that a debugger recognizes, and signals that tell about a tensor's
// health and are written to files. Programs rarely add them themselves; graphs that
// were made for a debugger hold them. Importing the package registers them.
package debug
