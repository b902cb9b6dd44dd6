package versions

import (
	"cmp"
	"maps"
	"slices"
)

// A State is where a version is in its life. Numbers and names are TensorFlow
// Serving's.
//
//	START → LOADING → AVAILABLE → UNLOADING → END
//	           └──────────────────────────────↗  loading has failed
//	END → START: it is wanted again, or its files have changed since loading failed
//
// A version that is loaded again because its variables have come stays AVAILABLE: what
// there is answers requests until the new one can.
type State int

// The states.
const (
	Start     State = 10
	Loading   State = 20
	Available State = 30
	Unloading State = 40
	End       State = 50
)

// maxEnded bounds how many ended versions are remembered, for requests of
// their states.
const maxEnded = 32

// A Place is where a version is.
type Place struct {
	Path string
	// Stamp changes when the files do. A version whose loading has failed is
	// loaded again when its stamp is another one.
	Stamp string
	// Partial says that the version has no variables yet. It may be one without
	// variables; one that gets them later is loaded again, and again with each new
	// stamp until that works.
	Partial bool
}

// A Status is what there is to say of a version.
type Status struct {
	Number int64
	State  State
	Err    error // why loading failed
}

// A Kind of action.
type Kind int

// The kinds of actions.
const (
	Load   Kind = iota + 1 // load the version, then call Loaded
	Cancel                 // loading is pointless by now: hurry it up; Loaded follows all the same
	Unload                 // give it no more requests, wait for those that it has, free it, then call Unloaded
	Reload                 // load it beside what is there, which goes if that works, then call Loaded
)

// An Action is something to do with a version.
type Action struct {
	Kind    Kind
	Version int64
	Path    string
}

// version is one version of a model.
type version struct {
	Status
	place    Place
	aspired  bool
	canceled bool
	again    again
}

// again is the loading of a version that is available and lacked its variables.
//
//	idle, failed → wanted    they have come, with another stamp than what failed
//	wanted → busy            Next has returned Reload
//	busy → idle              Loaded; what was loaded counts, or it was given up
//	busy → failed            Loaded; the files could not be loaded
//
// Files that come while it is busy are looked at when it no longer is.
type again struct {
	wanted, busy, failed bool
	place                Place  // of the files that are to be loaded, or have failed
	seen                 *Place // while it is busy: what Aspire said last; nil: nothing
}

// A Set is the versions of one model. It is for one goroutine at a time. As long
// as versions are wanted, one that is not stays until one that is has been loaded:
// the model is always there.
type Set struct {
	versions map[int64]*version
}

// Aspire says which versions are wanted from now on, and where they are.
func (s *Set) Aspire(want map[int64]Place) {
	if s.versions == nil {
		s.versions = map[int64]*version{}
	}
	for n, v := range s.versions {
		place, ok := want[n]
		if ok && v.State == End && (!v.aspired || v.Err != nil && v.place.Stamp != place.Stamp) {
			s.versions[n] = &version{Status: Status{Number: n, State: Start}, place: place, aspired: true}
			continue
		}
		v.aspired = ok
		v.wantAgain(place)
		if ok && v.State == Unloading {
			v.place = place // for when it is loaded again
		}
	}
	for n, place := range want {
		if s.versions[n] == nil {
			s.versions[n] = &version{Status: Status{Number: n, State: Start}, place: place, aspired: true}
		}
	}
	s.forget()
}

// wantAgain notes whether v, which may have its variables now, is to be loaded again.
func (v *version) wantAgain(place Place) {
	a := &v.again
	if a.busy {
		a.seen = &place
		return
	}
	known := a.failed && a.place.Stamp == place.Stamp
	a.wanted = v.aspired && v.State == Available && v.place.Partial && !place.Partial && !known
	if a.wanted {
		a.place = place
	}
}

// forget drops the lowest of the versions that have ended.
func (s *Set) forget() {
	var ended []int64
	for n, v := range s.versions {
		if v.State == End && !v.aspired {
			ended = append(ended, n)
		}
	}
	slices.Sort(ended)
	for _, n := range ended[:max(0, len(ended)-maxEnded)] {
		delete(s.versions, n)
	}
}

// Next returns what is to be done now, loads before unloads, high versions before
// low ones. Every action is returned once.
func (s *Set) Next() []Action {
	var loads, others []Action
	free := s.free()
	for _, v := range s.sorted() {
		a := Action{Version: v.Number, Path: v.place.Path}
		switch {
		case v.State == Start && !v.aspired:
			v.State = End
		case v.State == Start:
			v.State, a.Kind = Loading, Load
			loads = append(loads, a)
		case v.loading() && !v.aspired && !v.canceled:
			v.canceled, a.Kind = true, Cancel
			others = append(others, a)
		case v.again.wanted:
			v.again.wanted, v.again.busy, v.again.failed = false, true, false
			a.Kind, a.Path = Reload, v.again.place.Path
			loads = append(loads, a)
		case v.State == Available && !v.again.busy && !v.aspired && free:
			v.State, a.Kind = Unloading, Unload
			others = append(others, a)
		}
	}
	return append(loads, others...)
}

// loading reports whether something is being loaded for v.
func (v *version) loading() bool { return v.State == Loading || v.again.busy }

// free reports whether versions that are not wanted may go: one that is wanted is
// there, or none is wanted.
func (s *Set) free() bool {
	none := true
	for _, v := range s.versions {
		if v.aspired && v.State == Available {
			return true
		}
		none = none && !v.aspired
	}
	return none
}

// Loaded reports that a version has been loaded, or why it cannot be.
func (s *Set) Loaded(n int64, err error) {
	v := s.versions[n]
	if v == nil || !v.loading() {
		return
	}
	if v.again.busy {
		v.loadedAgain(err)
		return
	}
	v.State, v.Err = Available, nil
	if err == nil {
		v.canceled = false // that came too late; loading it again may be given up, too
		return
	}
	v.State, v.Err = End, err
	if v.canceled && v.aspired { // wanted again while it was given up
		*v = version{Status: Status{Number: n, State: Start}, place: v.place, aspired: true}
	}
}

// loadedAgain is Loaded for a version that is available whatever err is. One that was
// given up is tried again if it is wanted again.
func (v *version) loadedAgain(err error) {
	seen := v.again.seen
	switch {
	case err == nil:
		v.place, v.again = v.again.place, again{}
	case v.canceled:
		v.again = again{}
	default:
		v.again = again{failed: true, place: v.again.place}
	}
	v.canceled = false
	if seen != nil {
		v.wantAgain(*seen)
	}
}

// Unloaded reports that a version is gone.
func (s *Set) Unloaded(n int64) {
	v := s.versions[n]
	if v == nil || v.State != Unloading {
		return
	}
	v.State = End
	if v.aspired {
		v.State = Start
	}
}

// Status returns what there is to say of all versions, the highest first.
func (s *Set) Status() []Status {
	out := make([]Status, 0, len(s.versions))
	for _, v := range s.sorted() {
		out = append(out, v.Status)
	}
	return out
}

// Wants reports whether any version is wanted.
func (s *Set) Wants() bool {
	for _, v := range s.versions {
		if v.aspired {
			return true
		}
	}
	return false
}

// Coming reports whether a version is being loaded, or will be when it has been unloaded.
func (s *Set) Coming(n int64) bool {
	v := s.versions[n]
	return v != nil && (v.State < Available || v.State == Unloading && v.aspired)
}

// Idle reports whether nothing is under way: all versions are available or have
// ended.
func (s *Set) Idle() bool {
	for _, v := range s.versions {
		if v.State != Available && v.State != End || v.again.busy {
			return false
		}
	}
	return true
}

func (s *Set) sorted() []*version {
	return slices.SortedFunc(maps.Values(s.versions), func(a, b *version) int { return cmp.Compare(b.Number, a.Number) })
}
