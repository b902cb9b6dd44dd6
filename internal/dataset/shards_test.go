package dataset

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/gorge-tf/gorge/tf/core"
)

func TestShards(t *testing.T) {
	s := NewShards(*numbers(t, 0, 5, 1).Spec(), 3)
	defer s.Close()
	if _, err := s.Next(t.Context(), 0, 0); core.CodeOf(err) != core.InvalidArgument {
		t.Error(err)
	}
	for range 2 {
		n, err := s.Start(t.Context(), numbers(t, 0, 5, 1), 10)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, consumer := range []int{2, 0, 1, 1, 0, 2, 1} {
			e, err := s.Next(t.Context(), consumer, n)
			if errors.Is(err, End) {
				got = append(got, "end")
				continue
			}
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, show(t, e))
		}
		if fmt.Sprint(got) != "[[2] [0] [1] [4] [3] end end]" {
			t.Error(got)
		}
		for _, bad := range []struct {
			consumer int
			n        int64
		}{{3, n}, {-1, n}, {0, n + 1}} {
			if _, err := s.Next(t.Context(), bad.consumer, bad.n); core.CodeOf(err) != core.InvalidArgument {
				t.Errorf("%+v: %v", bad, err)
			}
		}
	}
}

// TestShardsOfACancelledCall: an element that comes as the call for it is cancelled is not
// lost.
func TestShardsOfACancelledCall(t *testing.T) {
	s := NewShards(*numbers(t, 0, 1, 1).Spec(), 1)
	defer s.Close()
	n, err := s.Start(t.Context(), numbers(t, 0, 3, 1), 2)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for {
		e, err := s.Next(&untilAsked{t.Context(), 0}, 0, n)
		if errors.Is(err, End) {
			break
		}
		if err == nil {
			got = append(got, show(t, e))
		}
	}
	if fmt.Sprint(got) != "[[0] [1] [2]]" {
		t.Error(got)
	}
}

// TestShardsInParallel: of what consumers take at once, nothing is lost or
// doubled.
func TestShardsInParallel(t *testing.T) {
	const n, consumers = 300, 4
	s := NewShards(*numbers(t, 0, 1, 1).Spec(), consumers)
	defer s.Close()
	incarnation, err := s.Start(t.Context(), Prefetch(numbers(t, 0, n, 1), 3), 2)
	if err != nil {
		t.Fatal(err)
	}
	taken := make([][]int64, consumers)
	var all sync.WaitGroup
	for k := range consumers {
		all.Go(func() {
			for {
				e, err := s.Next(context.Background(), k, incarnation)
				if err != nil {
					return
				}
				taken[k] = append(taken[k], core.Data[int64](e[0])[0])
			}
		})
	}
	all.Wait()
	for k, v := range taken {
		if len(v) != n/consumers || !slices.IsSorted(v) || v[0] != int64(k) {
			t.Errorf("consumer %d took %v", k, v)
		}
	}
}

// TestShardsAreBounded: a consumer that is far ahead waits for the others.
func TestShardsAreBounded(t *testing.T) {
	s := NewShards(*numbers(t, 0, 1, 1).Spec(), 2)
	n, err := s.Start(t.Context(), numbers(t, 0, 10, 1), 1)
	if err != nil {
		t.Fatal(err)
	}
	take := func(ctx context.Context, consumer int) string {
		e, err := s.Next(ctx, consumer, n)
		if err != nil {
			return core.CodeOf(err).String()
		}
		return show(t, e)
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	got := []string{take(t.Context(), 0), take(t.Context(), 0), take(gone, 0)}
	later := make(chan string)
	go func() { later <- take(context.Background(), 0) }()
	got = append(got, take(t.Context(), 1), <-later)
	if fmt.Sprint(got) != "[[0] [2] CANCELLED [1] [4]]" {
		t.Error(got)
	}
	go func() { later <- take(context.Background(), 0) }()
	s.Close()
	if end := <-later; end != "CANCELLED" {
		t.Errorf("who waits when it is closed is told %s", end)
	}
}
