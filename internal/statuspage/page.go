package statuspage

import (
	"bytes"
	_ "embed"
	"fmt"
	"html/template"
	"net/http"
	"time"

	"github.com/gorge-tf/gorge/internal/telemetry"
	"github.com/gorge-tf/gorge/tf/cluster"
)

//go:embed page.html
var text string

var page = template.Must(template.New("page").Funcs(template.FuncMap{
	"bytes": byteCount, "took": func(d time.Duration) string { return d.Round(10 * time.Microsecond).String() },
	"since": func(t time.Time) string { return time.Since(t).Round(time.Second).String() }, "clock": func(t time.Time) string { return t.UTC().Format("15:04:05.000") },
}).Parse(text))

// shown bounds the rows of each table.
const shown = 100

// view is what the page is made of.
type view struct {
	cluster.Status
	Now            time.Time
	UnderWay, Slow []telemetry.Call
	More           int // sessions that are not shown
}

// Page returns the handler of the page.
func Page(s Source, t *telemetry.Telemetry) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		v := view{Status: s.Status(), Now: time.Now(), UnderWay: t.UnderWay(shown), Slow: t.Slow()}
		if v.More = len(v.Sessions) - shown; v.More > 0 {
			v.Sessions = v.Sessions[:shown]
		}
		var b bytes.Buffer
		if err := page.Execute(&b, v); err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		h := w.Header()
		h.Set("Content-Type", "text/html; charset=utf-8")
		h.Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'")
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Cache-Control", "no-store")
		_, _ = w.Write(b.Bytes()) // a browser that has left needs no page
	})
}

// byteCount writes a number of bytes for people.
func byteCount(n int64) string {
	const unit = 1024
	if n < unit {
		return fmt.Sprintf("%d B", n)
	}
	v, i := float64(n)/unit, 0
	for ; v >= unit && i < 4; i++ {
		v /= unit
	}
	return fmt.Sprintf("%.1f %ciB", v, "KMGTP"[i])
}
