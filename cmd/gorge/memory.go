package main

import (
	"flag"
	"math"
	"os"
	"runtime/debug"
	"strconv"
	"strings"

	"github.com/gorge-tf/gorge/tf"
)

// memoryFlags say how much memory a server may use.
type memoryFlags struct {
	limit         byteCount
	session, step float64
}

func (m *memoryFlags) define(s *flag.FlagSet) {
	s.Var(&m.limit, "memory_limit", "`bytes` that the process may use, 512MiB or 64G say; operations that need more fail; 0: nine tenths of what the machine and the process's limits allow")
	s.Var((*share)(&m.session), "session_memory_share", "`part` of the memory that one session may hold, in 0 to 1; 0: all of it")
	s.Var((*share)(&m.step), "step_memory_share", "`part` of the memory that one step may hold, in 0 to 1; 0: all of it")
}

// apply sets the limits of this process. Go's collector is told of the limit, too,
// unless the environment's GOMEMLIMIT says something else: it then works harder
// before the limit is reached, and gives memory back.
func (m *memoryFlags) apply() {
	tf.SetMemoryLimit(int64(m.limit))
	tf.SetMemoryShares(m.session, m.step)
	if os.Getenv("GOMEMLIMIT") == "" {
		_, limit := tf.MemoryUsage()
		debug.SetMemoryLimit(limit + limit/16)
	}
}

// byteCount is a flag for a number of bytes, with or without a unit.
type byteCount int64

// units are powers of 1024, whether they are called KiB, KB or K.
const units = "KMGTP"

// String returns the number.
func (b *byteCount) String() string { return strconv.FormatInt(int64(*b), 10) }

// Set reads "512MiB".
func (b *byteCount) Set(s string) error {
	bad := tf.Errorf(tf.InvalidArgument, "a number of bytes has the form 1000000, 512MiB or 1.5G, got %q", s)
	number := strings.TrimRight(s, "iBbKMGTPkmgtp ")
	unit := strings.ToUpper(strings.TrimSpace(s[len(number):]))
	unit = strings.TrimSuffix(strings.TrimSuffix(unit, "B"), "I")
	scale := 1.0
	if unit != "" {
		k := strings.Index(units, unit)
		if k < 0 || len(unit) > 1 {
			return bad
		}
		scale = math.Pow(1024, float64(k+1))
	}
	v, err := strconv.ParseFloat(number, 64)
	if err != nil || v < 0 || v*scale > math.MaxInt64/2 || v != v {
		return bad
	}
	*b = byteCount(v * scale)
	return nil
}
