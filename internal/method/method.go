// Package method says of each RPC what the code that makes, carries, admits or logs
// calls has to know: the role that may call it, whether a call may be made again, how long it may
// take. gRPC and links read the same table.
//
// The table is generated of the options of methods in the .proto files of tf/pb;
// tools/protogen/method.proto says what each option means. To add a method, declare
// it in its service there, run go generate ./tf/pb/... and implement it where the
// compiler asks for it.
package method

import "maps"

// Info is what is known of a method besides its messages.
type Info struct {
	Role            Role // that callers must have
	Audited         bool // also when it is allowed
	Idempotent      bool // a call that failed on its way is made again
	Prompt          bool // answered at once: clients bound the time of each attempt
	OutlastsSilence bool // calls may wait for a server to start: they fail only with the connection that they were sent on
	Routine         bool // part of each step: calls that succeed are logged in detail only
	Transfer        bool // moves a value: nothing stands between a call and its handler, and links have connections for it
	Nonblocking     bool // the handler never waits: the goroutine that reads a link may run it
}

// A Role is what a client may do; a higher one may do all that a lower one may.
type Role int

// The roles.
const (
	Nothing    Role = iota // not even look
	Observe                // see devices, states and metrics
	Run                    // open sessions and run steps, as clients and tasks do
	Administer             // end what others have, and profile
)

var roleNames = [...]string{Nothing: "nothing", Observe: "observe", Run: "run", Administer: "administer"}

// String returns the role's name.
func (r Role) String() string {
	if r < 0 || int(r) >= len(roleNames) {
		return "unknown"
	}
	return roleNames[r]
}

// healthMethods are those of gRPC's health service, which is declared elsewhere.
var healthMethods = map[string]Info{
	"/grpc.health.v1.Health/Check": {Role: Nothing},
	"/grpc.health.v1.Health/Watch": {Role: Nothing},
	"/grpc.health.v1.Health/List":  {Role: Observe},
}

var all = union(gorgeMethods, servingMethods, healthMethods)

func union(tables ...map[string]Info) map[string]Info {
	out := map[string]Info{}
	for _, t := range tables {
		maps.Copy(out, t)
	}
	return out
}

// Of returns what is known of a method, "/package.Service/Method". One that is in
// no table needs Administer.
func Of(path string) Info {
	if i, ok := all[path]; ok {
		return i
	}
	return Info{Role: Administer}
}

// Known reports whether a method is in a table.
func Known(path string) bool {
	_, ok := all[path]
	return ok
}
