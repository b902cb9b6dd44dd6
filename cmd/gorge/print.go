package main

import (
	"fmt"
	"io"
	"strings"
	"sync"

	"github.com/gorge-tf/gorge/tf/ops"
)

// printer is where the server writes what Print operations print: streams of
// the log go to standard error, with their level.
func printer(stdout, stderr io.Writer) ops.Printer {
	var mu sync.Mutex
	return func(stream, text string) {
		mu.Lock()
		defer mu.Unlock()
		if stream == "stdout" {
			fmt.Fprint(stdout, text)
			return
		}
		if level, ok := strings.CutPrefix(stream, "log("); ok {
			text = strings.ToUpper(strings.TrimSuffix(level, ")")) + ": " + strings.TrimSuffix(text, "\n") + "\n"
		}
		fmt.Fprint(stderr, text)
	}
}
