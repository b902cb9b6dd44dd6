package main

import (
	"bufio"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// A browser is a headless Chromium with one page, which is driven by Chromium's
// DevTools protocol over pipes. It is used by one goroutine.
type browser struct {
	t       *testing.T
	to      *os.File
	from    *bufio.Reader
	session string // of the page
	calls   int
	seen    []devtoolsMessage // events, in their order
}

// devtoolsMessage is an answer, which has an ID, or an event, which has a method.
type devtoolsMessage struct {
	ID             int
	Method         string
	Params, Result json.RawMessage
	Error          *struct{ Message string }
}

// openBrowser starts the Chromium that GORGE_CHROMIUM names, with an empty page. It
// ends with the test.
func openBrowser(t *testing.T) *browser {
	t.Helper()
	path := os.Getenv("GORGE_CHROMIUM")
	if path == "" {
		t.Skip("GORGE_CHROMIUM names no Chromium")
	}
	b := &browser{t: t}
	theirs, ours := b.pipe()
	back, answers := b.pipe()
	b.to, b.from = ours, bufio.NewReaderSize(back, 1<<20)
	back.SetReadDeadline(time.Now().Add(2 * time.Minute))
	ctx, cancel := context.WithCancel(context.Background())
	cmd := exec.CommandContext(ctx, path, "--headless=new", "--no-sandbox", "--disable-gpu", "--remote-debugging-pipe", "--user-data-dir="+t.TempDir(), "about:blank")
	cmd.ExtraFiles = []*os.File{theirs, answers}
	err := cmd.Start()
	theirs.Close()
	answers.Close()
	if err != nil {
		cancel()
		t.Fatal(err)
	}
	t.Cleanup(func() {
		b.call("Browser.close", nil, nil)
		ours.Close()
		time.AfterFunc(20*time.Second, cancel)
		cmd.Wait() // how a browser ends says nothing about the page
		cancel()
		back.Close()
	})
	b.attach()
	return b
}

func (b *browser) pipe() (r, w *os.File) {
	b.t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		b.t.Fatal(err)
	}
	return r, w
}

// attach opens a page and asks for its events.
func (b *browser) attach() {
	b.t.Helper()
	var target struct{ TargetID string }
	b.call("Target.createTarget", map[string]any{"url": "about:blank"}, &target)
	var attached struct{ SessionID string }
	b.call("Target.attachToTarget", map[string]any{"targetId": target.TargetID, "flatten": true}, &attached)
	b.session = attached.SessionID
	for _, domain := range []string{"Page", "Runtime", "Network", "Log", "DOM"} {
		b.call(domain+".enable", nil, nil)
	}
}

// call calls a method of the protocol and fills result, unless it is nil.
func (b *browser) call(method string, params map[string]any, result any) {
	b.t.Helper()
	b.calls++
	request := map[string]any{"id": b.calls, "method": method}
	if params != nil {
		request["params"] = params
	}
	if b.session != "" && !strings.HasPrefix(method, "Browser.") {
		request["sessionId"] = b.session
	}
	text, err := json.Marshal(request)
	if err != nil {
		b.t.Fatal(err)
	}
	if _, err := b.to.Write(append(text, 0)); err != nil {
		b.t.Fatalf("%s: %v", method, err)
	}
	m := b.until(func(m *devtoolsMessage) bool { return m.ID == b.calls })
	if m.Error != nil {
		b.t.Fatalf("%s: %s", method, m.Error.Message)
	}
	if result != nil {
		if err := json.Unmarshal(m.Result, result); err != nil {
			b.t.Fatalf("%s: %v", method, err)
		}
	}
}

// until reads messages up to one that is wanted, and keeps the events.
func (b *browser) until(wanted func(*devtoolsMessage) bool) *devtoolsMessage {
	b.t.Helper()
	for {
		text, err := b.from.ReadBytes(0)
		if err != nil {
			b.t.Fatalf("Chromium has ended or does not answer: %v", err)
		}
		var m devtoolsMessage
		if err := json.Unmarshal(text[:len(text)-1], &m); err != nil {
			b.t.Fatal(err)
		}
		if m.Method != "" {
			b.seen = append(b.seen, m)
		}
		if wanted(&m) {
			return &m
		}
	}
}

// open loads a page.
func (b *browser) open(url string) {
	b.t.Helper()
	b.call("Page.navigate", map[string]any{"url": url}, nil)
	loaded := func(m *devtoolsMessage) bool { return m.Method == "Page.loadEventFired" }
	for i := range b.seen {
		if loaded(&b.seen[i]) {
			return
		}
	}
	b.until(loaded)
}

// eval evaluates an expression of JavaScript in the page, waits for it if it is a
// promise, and fills result, unless it is nil.
func (b *browser) eval(expression string, result any) {
	b.t.Helper()
	var got struct {
		Result           struct{ Value json.RawMessage }
		ExceptionDetails json.RawMessage
	}
	b.call("Runtime.evaluate", map[string]any{"expression": expression, "awaitPromise": true, "returnByValue": true}, &got)
	if got.ExceptionDetails != nil {
		b.t.Fatalf("%s: %s", expression, got.ExceptionDetails)
	}
	if result != nil {
		if err := json.Unmarshal(got.Result.Value, result); err != nil {
			b.t.Fatalf("%s: %v", expression, err)
		}
	}
}

// click clicks into the middle of the element that an expression gives.
func (b *browser) click(element string) {
	b.t.Helper()
	var at []float64
	b.eval("(e => { e.scrollIntoView({block: 'center'}); const r = e.getBoundingClientRect(); return [r.x + r.width / 2, r.y + r.height / 2]; })("+element+")", &at)
	for _, kind := range []string{"mousePressed", "mouseReleased"} {
		b.call("Input.dispatchMouseEvent", map[string]any{"type": kind, "x": at[0], "y": at[1], "button": "left", "clickCount": 1}, nil)
	}
}

// write replaces the text of a field by what is typed.
func (b *browser) write(element, text string) {
	b.t.Helper()
	b.click(element)
	b.eval(element+".select()", nil)
	b.call("Input.insertText", map[string]any{"text": text}, nil)
}

// choose chooses a file for an input, as its dialog would.
func (b *browser) choose(element, file string) {
	b.t.Helper()
	var got struct{ Result struct{ ObjectID string } }
	b.call("Runtime.evaluate", map[string]any{"expression": element}, &got)
	b.call("DOM.setFileInputFiles", map[string]any{"files": []string{file}, "objectId": got.Result.ObjectID}, nil)
}
