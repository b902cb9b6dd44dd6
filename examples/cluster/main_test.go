package main

import (
	"os"
	"strings"
	"testing"
)

// TestMain lets the test's own binary be the tasks that it starts.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && strings.HasPrefix(os.Args[1], "-job=") {
		main()
		return
	}
	os.Exit(m.Run())
}

// TestTrainsOnACluster: three processes train together as well as one does, and
// all end.
func TestTrainsOnACluster(t *testing.T) {
	s, err := parse([]string{"-epochs", "3"})
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	accuracy, err := lead(t.Context(), s, &out)
	if err != nil {
		t.Fatalf("%v\n%s", err, out.String())
	}
	if accuracy < 0.90 {
		t.Errorf("accuracy %v, want at least 0.90", accuracy)
	}
	for _, want := range []string{"ps 0", "worker 0", "worker 1", "steps/s", "MB received", "test accuracy"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is not shown:\n%s", want, out.String())
		}
	}
}

// TestTrainsUnderTLS: with certificates, over links and by RDMA in software, they
// train as well.
func TestTrainsUnderTLS(t *testing.T) {
	for _, protocol := range []string{"grpc", "grpc+verbs"} {
		s, err := parse([]string{"-epochs", "2", "-tls", "-protocol", protocol})
		if err != nil {
			t.Fatal(err)
		}
		var out strings.Builder
		accuracy, err := lead(t.Context(), s, &out)
		if err != nil {
			t.Fatalf("%s: %v\n%s", protocol, err, out.String())
		}
		if accuracy < 0.85 {
			t.Errorf("%s: accuracy %v, want at least 0.85", protocol, accuracy)
		}
	}
}

// TestTrainsTogether: workers update in step, one of three is not waited for, and
// all end.
func TestTrainsTogether(t *testing.T) {
	s, err := parse([]string{"-epochs", "3", "-sync", "-workers", "3", "-backup", "1"})
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	accuracy, err := lead(t.Context(), s, &out)
	if err != nil {
		t.Fatalf("%v\n%s", err, out.String())
	}
	if accuracy < 0.88 {
		t.Errorf("accuracy %v, want at least 0.88\n%s", accuracy, out.String())
	}
}

// TestTaskThatCannotServe: what goes wrong in a process is told, and the others
// are ended.
func TestTaskThatCannotServe(t *testing.T) {
	s, err := parse([]string{"-workers", "1"})
	if err != nil {
		t.Fatal(err)
	}
	tasks, err := startAll(t.Context(), s, []string{"127.0.0.1:0", "nowhere"})
	if err == nil || !strings.Contains(err.Error(), "ended too early") {
		t.Errorf("got %v", err)
	}
	if err := stopAll(tasks); err == nil {
		t.Error("the failure of a process is not told when it is stopped")
	}
}

func TestFlags(t *testing.T) {
	if _, err := parse([]string{"-workers", "0"}); err == nil || !strings.Contains(err.Error(), "must be positive") {
		t.Error(err)
	}
	for _, args := range [][]string{{"-backup", "1"}, {"-sync", "-backup", "2"}} {
		if _, err := parse(args); err == nil || !strings.Contains(err.Error(), "backup takes -sync") {
			t.Error(err)
		}
	}
	if err := run(t.Context(), []string{"-job", "ps", "-addresses", "127.0.0.1:1"}, strings.NewReader(""), &strings.Builder{}); err == nil {
		t.Error("an address is missing, and nobody says so")
	}
}
