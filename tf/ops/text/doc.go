// Package text has the operations on strings that few programs need: Unicode, splitting, joining, replacing, numbers.
package text
