package main

import (
	"context"
	"errors"
	"os"
	"time"

	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/serving"
)

// hangups lets SIGHUP read certificates, roles and tokens again, until ctx ends. The
// channel that it returns is sent to each time, unless an earlier one waits there.
func (p *modelProcess) hangups(ctx context.Context) <-chan struct{} {
	out := make(chan struct{}, 1)
	atHangup(ctx, func() {
		if p.security != nil {
			_ = p.security.Reload() // which logs what is wrong
		}
		select {
		case out <- struct{}{}:
		default:
		}
	})
	return out
}

// follow makes the models those of the configuration at each hangup, and when the
// model config file is another one than that which the models are from, until ctx ends.
func (p *modelProcess) follow(ctx context.Context, hangups <-chan struct{}) {
	f := p.flags
	var ticks <-chan time.Time
	if f.config != "" && f.configPoll > 0 {
		t := time.NewTicker(times(int64(f.configPoll), time.Second))
		defer t.Stop()
		ticks = t.C
	}
	told := "" // of errors, the last one
	for {
		asked := false
		select {
		case <-ticks:
		case <-hangups:
			asked = true
		case <-ctx.Done():
			return
		}
		text := ""
		if err := p.compare(ctx, asked); err != nil && ctx.Err() == nil {
			if text = err.Error(); asked || text != told {
				what := "the configuration of models is not taken"
				if errors.Is(err, serving.ErrIncomplete) {
					what = "the configuration of models is taken, but not all of it is served"
				}
				p.log.Error(what, "file", f.config, "error", err)
			}
		}
		told = text
	}
}

// compare reads the model config file, and makes the models those of it if it has changed,
// or if that was asked for. What has failed is tried again the next time: a version that was
// not there may have come, and a reload that failed may have taken models away, so that even
// the file before is not what is served.
func (p *modelProcess) compare(ctx context.Context, asked bool) error {
	text, err := p.flags.configText()
	if err != nil || !asked && !p.again && text == p.config {
		return err
	}
	err = p.reload(ctx)
	p.config, p.again = text, err != nil
	return err
}

// reload makes the models those of the configuration. One that is wrong changes
// nothing.
func (p *modelProcess) reload(ctx context.Context) error {
	models, err := p.flags.models()
	if err != nil {
		return err
	}
	return p.s.Reload(ctx, models)
}

// configText returns what the model config file has, "" if there is none.
func (f *modelServerFlags) configText() (string, error) {
	if f.config == "" {
		return "", nil
	}
	text, err := readConfig(f.config)
	return string(text), err
}

// readConfig reads a configuration file.
func readConfig(name string) ([]byte, error) {
	text, err := os.ReadFile(name)
	if err != nil {
		return nil, core.FileError(name, err)
	}
	return text, nil
}
