// Package stage has barriers, staging areas and maps in which steps leave tuples for each other.
package stage
