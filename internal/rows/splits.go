package rows

import "github.com/gorge-tf/gorge/tf/core"

// VerifySplits wants row splits, which say where the rows of n values begin and
// where the last one ends, to begin at 0, ascend and end at n.
func VerifySplits(s []int, n int) error {
	if len(s) == 0 {
		return core.Errorf(core.InvalidArgument, "Invalid ragged splits: ragged splits must have at least one splits, but is empty")
	}
	if s[0] != 0 {
		return core.Errorf(core.InvalidArgument, "Invalid ragged splits: first element of ragged splits  must be 0 but is %d", s[0])
	}
	for i := 1; i < len(s); i++ {
		if s[i] < s[i-1] {
			return core.Errorf(core.InvalidArgument, "Invalid ragged splits: ragged splits must be monotonically increasing, but ragged_splits[%d]=%d is smaller than row_splits[%d]=%d", i, s[i], i-1, s[i-1])
		}
	}
	if last := s[len(s)-1]; last != n {
		return core.Errorf(core.InvalidArgument, "Invalid ragged splits: last element of ragged splits must be the number of ragged values(%d) but is %d", n, last)
	}
	return nil
}
