package versions

import (
	"errors"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"
)

func TestPolicies(t *testing.T) {
	have := []int64{3, 10, 2, 10, 7}
	for _, c := range []struct {
		p    Policy
		want []int64
	}{
		{Policy{}, []int64{10}}, {Policy{Latest: 2}, []int64{10, 7}}, {Policy{Latest: 9}, []int64{10, 7, 3, 2}},
		{Policy{All: true}, []int64{10, 7, 3, 2}}, {Policy{Specific: []int64{2, 5, 7}}, []int64{7, 2}}, {Policy{Specific: []int64{5}}, []int64{}}, {Policy{Specific: []int64{}}, []int64{}},
	} {
		if got := c.p.Choose(have); !slices.Equal(got, c.want) {
			t.Errorf("%+v chooses %v, want %v", c.p, got, c.want)
		}
	}
	if got := (Policy{}).Choose(nil); len(got) != 0 {
		t.Errorf("of none: %v", got)
	}
}

func TestParse(t *testing.T) {
	for name, want := range map[string]int64{"1": 1, "00000123": 123, "0": 0, "": -1, "-1": -1, "+1": -1, "1a": -1, "v1": -1, "99999999999999999999": -1} {
		v, ok := Parse(name)
		if !ok {
			v = -1
		}
		if v != want {
			t.Errorf("%q is %d, want %d", name, v, want)
		}
	}
}

func places(versions ...int64) map[int64]Place {
	out := map[int64]Place{}
	for _, v := range versions {
		out[v] = Place{Path: strconv.FormatInt(v, 10)}
	}
	return out
}

// TestNewVersionFirst: the old version goes when the new one is there.
func TestNewVersionFirst(t *testing.T) {
	var s Set
	s.Aspire(places(1))
	expect(t, &s, Action{Load, 1, "1"})
	s.Loaded(1, nil)
	s.Aspire(places(2))
	expect(t, &s, Action{Load, 2, "2"})
	s.Loaded(2, errors.New("damaged"))
	expect(t, &s) // the old one stays
	s.Aspire(places(2))
	expect(t, &s) // and loading is not tried again
	s.Aspire(map[int64]Place{2: {Path: "2", Stamp: "new"}})
	expect(t, &s, Action{Load, 2, "2"})
	s.Loaded(2, nil)
	expect(t, &s, Action{Unload, 1, "1"})
	s.Unloaded(1)
	if got := s.Status(); len(got) != 2 || got[0] != (Status{2, Available, nil}) || got[1] != (Status{1, End, nil}) {
		t.Errorf("%v", got)
	}
	s.Aspire(nil)
	expect(t, &s, Action{Unload, 2, "2"})
	s.Aspire(places(2)) // while it is unloaded
	expect(t, &s)
	s.Unloaded(2)
	expect(t, &s, Action{Load, 2, "2"})
	s.Aspire(nil)
	expect(t, &s, Action{Cancel, 2, "2"})
	expect(t, &s)
	s.Loaded(2, nil)
	expect(t, &s, Action{Unload, 2, "2"})
}

func expect(t *testing.T, s *Set, want ...Action) {
	t.Helper()
	if got := s.Next(); !slices.Equal(got, want) {
		t.Fatalf("to do %v, want %v", got, want)
	}
}

// TestRandomLives: whatever sources and loaders do in whatever order, a model that
// had a version and is still wanted has one, every load and unload is asked for
// once, and in the end there is what is wanted.
func TestRandomLives(t *testing.T) {
	for seed := range uint64(2000) {
		l := &life{t: t, r: rand.New(rand.NewPCG(seed, 1)), loading: map[int64]bool{}, unloading: map[int64]bool{}, loaded: map[int64]bool{}}
		for range 60 {
			l.event()
		}
		l.settle()
	}
}

type life struct {
	t                          *testing.T
	r                          *rand.Rand
	s                          Set
	want                       map[int64]Place
	loading, unloading, loaded map[int64]bool
	stamp                      int
}

func (l *life) event() {
	before := len(l.loaded)
	switch k := l.r.IntN(3); {
	case k == 0:
		l.aspire()
	case k == 1 && len(l.loading) > 0:
		l.finish(l.r.IntN(3) > 0)
	case len(l.unloading) > 0:
		n := one(l.unloading)
		delete(l.unloading, n)
		l.s.Unloaded(n)
	}
	l.do()
	if before > 0 && len(l.want) > 0 && len(l.loaded) == 0 {
		l.t.Fatal("the model has gone while versions of it were wanted")
	}
}

func (l *life) aspire() {
	l.want = map[int64]Place{}
	l.stamp++
	for range l.r.IntN(4) {
		n := int64(l.r.IntN(6))
		l.want[n] = Place{Path: strconv.Itoa(int(n)), Stamp: strconv.Itoa(l.stamp), Partial: l.r.IntN(2) == 0}
	}
	l.s.Aspire(l.want)
}

func (l *life) finish(ok bool) {
	n := one(l.loading)
	delete(l.loading, n)
	if !ok {
		l.s.Loaded(n, errors.New("damaged"))
		return
	}
	l.loaded[n] = true
	l.s.Loaded(n, nil)
}

// do does at once what is fast, and keeps what is slow for later.
func (l *life) do() {
	for _, a := range l.s.Next() {
		switch {
		case a.Kind == Load && !l.loading[a.Version] && !l.loaded[a.Version] && !l.unloading[a.Version]:
			l.loading[a.Version] = true
		case a.Kind == Reload && !l.loading[a.Version] && l.loaded[a.Version]:
			l.loading[a.Version] = true
		case a.Kind == Unload && l.loaded[a.Version] && !l.loading[a.Version]:
			delete(l.loaded, a.Version)
			l.unloading[a.Version] = true
		case a.Kind == Cancel && l.loading[a.Version]:
		default:
			l.t.Fatalf("%+v while loading %v, loaded %v, unloading %v", a, l.loading, l.loaded, l.unloading)
		}
	}
}

// settle lets everything end well.
func (l *life) settle() {
	l.aspire()
	for l.do(); !l.s.Idle(); l.do() {
		if len(l.loading) > 0 {
			l.finish(true)
			continue
		}
		n := one(l.unloading)
		delete(l.unloading, n)
		l.s.Unloaded(n)
	}
	if got, want := slices.Sorted(maps.Keys(l.loaded)), slices.Sorted(maps.Keys(l.want)); !slices.Equal(got, want) {
		l.t.Fatalf("loaded are %v, wanted %v", got, want)
	}
}

func one(m map[int64]bool) int64 { return slices.Sorted(maps.Keys(m))[0] }

// TestOldVersionsAreForgotten: a server that has reloaded for years remembers a
// few versions.
func TestOldVersionsAreForgotten(t *testing.T) {
	var s Set
	for n := range int64(1000) {
		s.Aspire(places(n))
		for {
			actions := s.Next()
			for _, a := range actions {
				if a.Kind == Load {
					s.Loaded(a.Version, nil)
				} else {
					s.Unloaded(a.Version)
				}
			}
			if len(actions) == 0 {
				break
			}
		}
	}
	if n := len(s.Status()); n > maxEnded+2 {
		t.Errorf("%d versions are remembered", n)
	}
}

// TestPartial: a version that was loaded before its variables were there is loaded again
// when they are, once; one without variables is not.
func TestPartial(t *testing.T) {
	var s Set
	place := Place{Path: "1", Stamp: "a", Partial: true}
	next := func(want Kind) {
		t.Helper()
		s.Aspire(map[int64]Place{1: place})
		got := s.Next()
		if len(got) != min(int(want), 1) || want != 0 && got[0].Kind != want {
			t.Fatalf("to be done: %v, want %d", got, want)
		}
	}
	next(Load)
	s.Loaded(1, nil)
	next(0)
	place = Place{Path: "1", Stamp: "a b"}
	next(Reload)
	next(0)
	s.Loaded(1, errors.New("damaged"))
	if got := s.Status(); got[0] != (Status{1, Available, nil}) {
		t.Errorf("after variables that are damaged: %v", got)
	}
	next(0) // the files are as they were
	place.Stamp = "a c"
	next(Reload)
	s.Loaded(1, nil)
	next(0)
	place.Stamp = "a d"
	next(0) // it has variables
}

// TestPartialUnwanted: a version that stops being aspired while it is loaded again is
// unloaded after that has ended, and loaded again if it is aspired by then.
func TestPartialUnwanted(t *testing.T) {
	for _, err := range []error{nil, errors.New("canceled")} {
		var s Set
		s.Aspire(map[int64]Place{1: {Path: "1", Partial: true}})
		expect(t, &s, Action{Load, 1, "1"})
		s.Loaded(1, nil)
		whole := map[int64]Place{1: {Path: "1", Stamp: "b"}}
		s.Aspire(whole)
		expect(t, &s, Action{Reload, 1, "1"})
		s.Aspire(nil)
		expect(t, &s, Action{Cancel, 1, "1"})
		expect(t, &s)
		if s.Idle() {
			t.Error("nothing is under way while a version is loaded again")
		}
		if err != nil {
			s.Aspire(whole)
			s.Loaded(1, err)
			s.Aspire(whole)
			expect(t, &s, Action{Reload, 1, "1"})
			s.Aspire(nil)
			expect(t, &s, Action{Cancel, 1, "1"})
		}
		s.Loaded(1, err)
		expect(t, &s, Action{Unload, 1, "1"})
		s.Unloaded(1)
		expect(t, &s)
	}
}

// TestReloadAfterLateCancel: a version whose first loading was given up too late is loaded
// again like any other: that can be given up, and what fails is not tried twice.
func TestReloadAfterLateCancel(t *testing.T) {
	var s Set
	s.Aspire(map[int64]Place{1: {Path: "1", Partial: true}})
	expect(t, &s, Action{Load, 1, "1"})
	s.Aspire(nil)
	expect(t, &s, Action{Cancel, 1, "1"})
	whole := map[int64]Place{1: {Path: "1"}}
	s.Aspire(whole)
	s.Loaded(1, nil)
	s.Aspire(whole)
	expect(t, &s, Action{Reload, 1, "1"})
	s.Aspire(nil)
	expect(t, &s, Action{Cancel, 1, "1"})
	s.Aspire(whole)
	s.Loaded(1, errors.New("canceled"))
	s.Aspire(whole)
	expect(t, &s, Action{Reload, 1, "1"})
	s.Loaded(1, errors.New("damaged"))
	s.Aspire(whole)
	expect(t, &s)
}

// TestReloadSeesLateFiles: files that come while older ones are being loaded again are
// loaded as soon as those have failed, without another look.
func TestReloadSeesLateFiles(t *testing.T) {
	var s Set
	s.Aspire(map[int64]Place{1: {Path: "1", Partial: true}})
	expect(t, &s, Action{Load, 1, "1"})
	s.Loaded(1, nil)
	for _, stamp := range []string{"a", "b"} {
		s.Aspire(map[int64]Place{1: {Path: "1", Stamp: stamp}})
	}
	expect(t, &s, Action{Reload, 1, "1"})
	s.Aspire(map[int64]Place{1: {Path: "1", Stamp: "b"}})
	s.Loaded(1, errors.New("damaged"))
	expect(t, &s)
	s.Aspire(map[int64]Place{1: {Path: "1", Stamp: "c"}})
	expect(t, &s, Action{Reload, 1, "1"})
	s.Aspire(map[int64]Place{1: {Path: "1", Stamp: "d"}})
	s.Loaded(1, errors.New("damaged"))
	expect(t, &s, Action{Reload, 1, "1"})
	s.Loaded(1, nil)
	expect(t, &s)
}

// TestComing: what is being loaded comes, and what is wanted again while it is unloaded.
func TestComing(t *testing.T) {
	var s Set
	want := func(when string, coming bool) {
		t.Helper()
		if s.Coming(1) != coming {
			t.Errorf("%s: coming is %v", when, !coming)
		}
	}
	want("unknown", false)
	s.Aspire(places(1))
	want("wanted", true)
	s.Next()
	want("loading", true)
	s.Loaded(1, nil)
	want("loaded", false)
	s.Aspire(nil)
	s.Next()
	want("unloading", false)
	s.Aspire(places(1))
	want("wanted again", true)
	s.Unloaded(1)
	want("about to be loaded again", true)
	s.Aspire(nil)
	s.Next()
	want("given up", false)
}
