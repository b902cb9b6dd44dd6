package bundle

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gorge-tf/gorge/tf/core"
)

// coveringPlain is covering that compares each tile with all before it.
func coveringPlain(name string, full core.Shape, want Slice, shape core.Shape, tiles []tile) ([]tile, error) {
	var need []tile
	left := shape.NumElements()
	for _, t := range tiles {
		have := t.at.overlap(want, full)
		if have == nil {
			continue
		}
		for _, other := range need {
			if other.at.overlap(t.at, full).NumElements() > 0 {
				return nil, core.Errorf(core.Internal, "Overlapping slices: existing slice = %s, new slice = %s", other.at, t.at)
			}
		}
		if err := t.check(); err != nil {
			return nil, err
		}
		need = append(need, t)
		left -= have.NumElements()
	}
	if left != 0 {
		return nil, core.Errorf(core.InvalidArgument, "Does not have sufficient slices for partitioned tensor %s to restore in slice_spec: %s", name, want)
	}
	return need, nil
}

// boxIn returns a random slice.
func boxIn(r *rand.Rand, full core.Shape) Slice {
	s := Whole(len(full))
	for k, n := range full {
		if n > 0 && r.IntN(3) > 0 {
			at := r.IntN(n)
			s[k] = Extent{int64(at), int64(1 + r.IntN(n-at))}
		}
	}
	return s
}

// grid cuts a tensor at random places of some dimensions. The tiles are in random order.
func grid(r *rand.Rand, full core.Shape) []Slice {
	all := []Slice{Whole(len(full))}
	for k, n := range full {
		if n == 0 || r.IntN(2) == 0 {
			continue
		}
		var finer []Slice
		for _, s := range all {
			for at := 0; at < n; {
				part := slices.Clone(s)
				part[k] = Extent{int64(at), int64(1 + r.IntN(n-at))}
				at += int(part[k].Length)
				finer = append(finer, part)
			}
		}
		all = finer
	}
	r.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	return all
}

// slicing is a grid, or one from which tiles are missing, or to which some were added.
func slicing(r *rand.Rand, full core.Shape) []Slice {
	all := grid(r, full)
	switch r.IntN(4) {
	case 0:
		return all[r.IntN(len(all)):]
	case 1:
		return slices.Insert(all, r.IntN(len(all)+1), boxIn(r, full))
	case 2:
		all = nil
		for range r.IntN(6) {
			all = append(all, boxIn(r, full))
		}
	}
	return all
}

// TestCoveringIsPlain: random slicings give the tiles, the checks and the errors of the
// plain way.
func TestCoveringIsPlain(t *testing.T) {
	outcomes := map[core.Code]int{}
	for seed := range uint64(20_000) {
		r := rand.New(rand.NewPCG(seed, 5))
		full := make(core.Shape, r.IntN(4))
		for k := range full {
			full[k] = r.IntN(7)
		}
		all, want, broken := slicing(r, full), boxIn(r, full), r.IntN(20)
		run := func(covering func(string, core.Shape, Slice, core.Shape, []tile) ([]tile, error)) (string, error) {
			var checked []string
			var tiles []tile
			for i, s := range all {
				tiles = append(tiles, tile{at: s, check: func() error {
					if i == broken {
						return core.Errorf(core.DataLoss, "tile %d", i)
					}
					checked = append(checked, fmt.Sprint(i))
					return nil
				}})
			}
			shape, err := want.Shape(full)
			if err != nil {
				t.Fatal(err)
			}
			need, err := covering("x", full, want, shape, tiles)
			var places []string
			for _, n := range need {
				places = append(places, n.at.String())
			}
			return fmt.Sprint(checked, places, err), err
		}
		got, err := run(covering)
		plain, _ := run(coveringPlain)
		if got != plain {
			t.Fatalf("seed %d, %v of %v cut into %v:\n%s, want\n%s", seed, want, full, all, got, plain)
		}
		outcomes[core.CodeOf(err)]++
	}
	for _, code := range []core.Code{core.OK, core.Internal, core.InvalidArgument, core.DataLoss} {
		if outcomes[code] < 500 {
			t.Errorf("outcomes %v, want more of %v", outcomes, code)
		}
	}
}

// TestCoveringOfMany: the slices of a tensor that is cut along one dimension are compared
// with their neighbours only, which the memory tells that is allocated for the
// comparisons.
func TestCoveringOfMany(t *testing.T) {
	const n = 3000
	full := core.Shape{4, n, 2}
	var tiles []tile
	for i := range int64(n) {
		tiles = append(tiles, tile{at: Slice{whole, {i, 1}, whole}, check: func() error { return nil }})
	}
	rand.New(rand.NewPCG(1, 2)).Shuffle(n, func(i, j int) { tiles[i], tiles[j] = tiles[j], tiles[i] })
	most := testing.AllocsPerRun(1, func() {
		if need, err := covering("x", full, Whole(3), full, tiles); err != nil || len(need) != n {
			t.Errorf("%d tiles of %d, %v", len(need), n, err)
		}
	})
	if most > 4*n {
		t.Errorf("%v allocations for %d tiles", most, n)
	}
	twice := append(slices.Clone(tiles), tiles[n/2])
	most = testing.AllocsPerRun(1, func() {
		if _, err := covering("x", full, Whole(3), full, twice); core.CodeOf(err) != core.Internal {
			t.Errorf("a tile that is there twice: %v", err)
		}
	})
	if most > 40*n {
		t.Errorf("%v allocations to find which of %d tiles is there twice", most, n)
	}
}
