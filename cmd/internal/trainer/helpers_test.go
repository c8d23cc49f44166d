package trainer

import (
	"context"
	"io"
	"strings"
	"testing"

	"github.com/plrank/plrank/cmd/internal/commandtest"
)

func TestMain(m *testing.M) {
	asChild() // with its parent's folder
	commandtest.Main(m)
}

var (
	training = commandtest.Command(func(args []string, _ io.Reader, stdout, stderr io.Writer) int {
		return run(context.Background(), nil, args, stdout, stderr)
	})

	call      = training.Call
	must      = training.Must
	callQuick = training.Quick
	trained   = training.Trained
	fold      = commandtest.Fold
	folds     = commandtest.Folds
	letor     = commandtest.Letor
	read      = commandtest.Read
	write     = commandtest.Write
)

// callWith runs the command until the context ends.
func callWith(ctx context.Context, args ...string) (status int, stdout, stderr string) {
	var out, errs strings.Builder
	status = run(ctx, nil, args, &out, &errs)
	return status, out.String(), errs.String()
}

// A watcher is a text that calls f when a word is written to it.
type watcher struct {
	strings.Builder
	word string
	f    func()
}

func (w *watcher) Write(b []byte) (int, error) {
	if strings.Contains(string(b), w.word) {
		w.f()
	}
	return w.Builder.Write(b)
}
