// Package summary has the operations that summarize values for TensorBoard.
package summary
