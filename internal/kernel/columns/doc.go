// Package columns holds the loops that go down the columns of matrices whose rows are
// any distance apart: sums, moments and what else normalization takes of each column.
// A call handles a strip of columns, which stays in registers, over all rows in order.
package columns
