// Package endurance runs clusters of `gorge serve` processes for long and under
// faults. Tasks are killed, stopped, held and cut off while clients train on them.
// Package chaos does the same in one process and in virtual time; here the
// processes, their connections and their files are real.
//
//	plan (seed) ──► faults ──► tasks: ps, workers      each a process, with a
//	                              ▲                    network of its own for
//	clients ── steps, saves ──────┘                    partitions
//	   │
//	   └─► ledger: the values that the variable may have
//
// Each client has a variable on the parameter server and adds one to it again and
// again. Its ledger follows from the answers: an acknowledged update has been made
// once; an update that failed has been made once or not at all, perhaps later; a
// restarted parameter server has what the last checkpoint has, and updates meant
// for its predecessor do not reach it. A value outside of the ledger's bounds is a
// lost or doubled update. Every call has to end within a limit.
//
// The tests run a short plan each. The environment asks for more: GORGE_FAULTS is
// the number of faults, GORGE_PARTITIONS that of partitions, GORGE_SOAK the
// duration of the soak, GORGE_OTHER the gorge binary of another version.
package endurance
