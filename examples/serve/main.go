// Command serve answers by HTTP which digits images show, with a model that is part
// of the program: TensorFlow has trained it, see examples/predict/make.py.
//
//	go run ./examples/serve -address 127.0.0.1:8080 &
//	curl --data-binary @examples/predict/digit0.png http://127.0.0.1:8080/digit
//
// The path /digit is the program's own: it takes the bytes of a file, as they are,
// inverts dark digits on light paper if it is asked to, and answers with a word. All
// other paths are TensorFlow Serving's REST API, for clients that know that.
package main

import (
	"bytes"
	"context"
	"embed"
	"errors"
	"flag"
	"fmt"
	"image"
	"image/color"
	_ "image/gif" // forms of images that clients send
	_ "image/jpeg"
	"image/png"
	"io"
	"net"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/gorge-tf/gorge/tf/pb"
	"github.com/gorge-tf/gorge/tf/pb/servingpb"
	"github.com/gorge-tf/gorge/tf/serving"
)

// models has the versions of the model.
//
//go:embed models
var models embed.FS

func main() {
	address := flag.String("address", "127.0.0.1:8080", "`address` to listen at")
	flag.Parse()
	ctx, stop := untilStopped()
	defer stop()
	if err := run(ctx, os.Stdout, *address, flag.Args()...); err != nil {
		fmt.Fprintln(os.Stderr, "serve:", err)
		os.Exit(1)
	}
}

// untilStopped returns a context that ends with the first signal to stop; the second one
// ends the program.
func untilStopped() (context.Context, context.CancelFunc) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop)
	return ctx, stop
}

// run serves until ctx ends and the requests under way are answered.
func run(ctx context.Context, out io.Writer, address string, rest ...string) error {
	if len(rest) > 0 {
		return fmt.Errorf("only flags are taken, got %q", rest)
	}
	s, err := serving.New(serving.Config{
		Models:   []serving.Model{{Name: "digits", BasePath: "models", FS: models}},
		Batching: &serving.Batching{}, // joins requests while the processor is busy
		Poll:     -1,
	})
	if err != nil {
		return err
	}
	defer s.Close()
	if err := s.Ready(ctx); err != nil {
		return err
	}
	mux := http.NewServeMux()
	mux.Handle("/", s.Handler())
	mux.Handle("POST /digit", digit(s))
	lis, err := net.Listen("tcp", address)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "http://%s\n", lis.Addr())
	h := &http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second, ReadTimeout: time.Minute}
	ended := make(chan error, 1)
	defer context.AfterFunc(ctx, func() { ended <- shutDown(h) })()
	if err := h.Serve(lis); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return <-ended // Serve returns when nothing new is taken
}

// grace is how long requests under way may take when the program ends.
const grace = 30 * time.Second

// shutDown ends a server when it has answered what it has.
func shutDown(h *http.Server) error {
	ctx, cancel := context.WithTimeout(context.Background(), grace)
	defer cancel()
	return errors.Join(h.Shutdown(ctx), h.Close())
}

// maxFile and maxPixels bound the files that the program takes: a small file may hold
// a very large image.
const (
	maxFile   = 4 << 20
	maxPixels = 1 << 22
)

// read returns the file in the body of a request, an image.
func read(w http.ResponseWriter, r *http.Request) ([]byte, error) {
	file, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxFile))
	if err != nil {
		return nil, err
	}
	c, _, err := image.DecodeConfig(bytes.NewReader(file))
	if err == nil && int64(c.Width)*int64(c.Height) > maxPixels {
		err = fmt.Errorf("an image must have at most %d pixels, got %dx%d", maxPixels, c.Width, c.Height)
	}
	return file, err
}

// digit answers with the digit that the image in the body shows.
func digit(s *serving.Server) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		file, err := read(w, r)
		if err == nil && r.URL.Query().Has("dark") {
			file, err = inverted(file)
		}
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		answer, err := s.Predict(r.Context(), &servingpb.PredictRequest{
			ModelSpec: &servingpb.ModelSpec{Name: "digits"},
			Inputs: map[string]*pb.TensorProto{"image": {
				Dtype: pb.DataType_DT_STRING, StringVal: [][]byte{file},
				TensorShape: &pb.TensorShapeProto{Dim: []*pb.TensorShapeProto_Dim{{Size: 1}}},
			}},
		})
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		out := answer.GetOutputs()
		fmt.Fprintf(w, "%d, probability %.3f\n", out["digit"].GetInt64Val()[0], out["probability"].GetFloatVal()[0])
	})
}

// inverted makes a light digit on a dark ground of a dark one on a light ground:
// the model knows only the former.
func inverted(file []byte) ([]byte, error) {
	in, _, err := image.Decode(bytes.NewReader(file))
	if err != nil {
		return nil, err
	}
	b := in.Bounds()
	out := image.NewGray(b)
	for y := b.Min.Y; y < b.Max.Y; y++ {
		for x := b.Min.X; x < b.Max.X; x++ {
			g := color.GrayModel.Convert(in.At(x, y)).(color.Gray)
			out.SetGray(x, y, color.Gray{Y: 255 - g.Y})
		}
	}
	var buf bytes.Buffer
	err = png.Encode(&buf, out)
	return buf.Bytes(), err
}
