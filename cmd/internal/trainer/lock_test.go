package trainer

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/plrank/plrank/cmd/internal/cli"
)

// eventually waits for something, for as long as it takes on a busy machine.
func eventually(t *testing.T, something string, there func() bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); !there(); time.Sleep(50 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("no sign of %s", something)
		}
	}
}

// endless starts a run in a process of its own that does not come to its end, and waits for
// a file in its folder.
func endless(t *testing.T, out, file string, args ...string) *exec.Cmd {
	t.Helper()
	run := child(0, append([]string{"-out", out, "-epochs", "1000000", "-patience", "0", "-cache", "off", "-scorer", "mlp", "-hidden", "4", "-members", "1"}, args...)...)
	if err := run.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		run.Process.Kill()
		run.Wait()
	})
	eventually(t, file, func() bool {
		_, err := os.Stat(filepath.Join(out, file))
		return err == nil
	})
	return run
}

// refused looks that a command ends without having touched the run of another process.
func refused(t *testing.T, holder *exec.Cmd, args ...string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second) // for one that is not
	defer cancel()
	status, stdout, stderr := callWith(ctx, append(args, "-cache", "off")...)
	if want := fmt.Sprintf("process %d on ", holder.Process.Pid); status != 1 || stdout != "" || strings.Count(stderr, "\n") != 1 ||
		!strings.Contains(stderr, "another run is at work in ") || !strings.Contains(stderr, want) {
		t.Errorf("%q: status %d, %q, want one line with %q", args, status, stderr, want)
	}
}

// While a run is at work in a folder, no other one begins or goes on there. When it is
// killed, it can be resumed.
func TestOneRunInAFolder(t *testing.T) {
	t.Parallel()
	data, out := fold(t), filepath.Join(t.TempDir(), "run")
	run := endless(t, out, cli.HistoryFile, "-data", data)
	refused(t, run, "-data", data, "-out", out)
	refused(t, run, "-resume", "-out", out, "-epochs", "2")
	link := out + ".link"
	if err := os.Symlink(out, link); err != nil {
		t.Fatal(err)
	}
	refused(t, run, "-resume", "-out", link)
	if err := run.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	run.Wait()
	lines := strings.Count(read(t, filepath.Join(out, cli.HistoryFile)), "\n")
	must(t, "-resume", "-out", out, "-epochs", fmt.Sprint(lines+1), "-cache", "off")
	if _, err := os.Stat(filepath.Join(out, ".lock")); err == nil {
		t.Error("the lock file stays")
	}
}

// The folder of several folds belongs to one run, and so is each fold's in it.
func TestOneRunInAFolderOfFolds(t *testing.T) {
	t.Parallel()
	data, out := folds(t, 3), filepath.Join(t.TempDir(), "runs")
	fold1 := filepath.Join(out, "fold1")
	run := endless(t, out, filepath.Join("fold1", cli.HistoryFile), "-data", data, "-folds", "all")
	refused(t, run, "-data", data, "-folds", "all", "-out", out)
	refused(t, run, "-resume", "-out", out)
	refused(t, run, "-data", data, "-fold", "1", "-out", out)
	refused(t, run, "-resume", "-out", fold1)
	refused(t, run, "-data", data, "-fold", "1", "-out", fold1)
}

// Of runs that are started at the same time, one goes on and the others say why they do not.
func TestRunsAtTheSameTime(t *testing.T) {
	t.Parallel()
	data, out := fold(t), filepath.Join(t.TempDir(), "run")
	const runs = 4
	var all [runs]*exec.Cmd
	var said [runs]bytes.Buffer
	for i := range all {
		all[i] = child(0, "-data", data, "-out", out, "-epochs", "20", "-patience", "0", "-cache", "off", "-scorer", "mlp", "-hidden", "4", "-members", "1", "-seed", fmt.Sprint(i))
		all[i].Stderr = &said[i]
		if err := all[i].Start(); err != nil {
			t.Fatal(err)
		}
	}
	succeeded := 0
	for i, run := range all {
		switch err := run.Wait(); {
		case err == nil:
			succeeded++
			if config := read(t, filepath.Join(out, cli.SettingsFile)); !strings.Contains(config, fmt.Sprintf("\"seed\": %d\n", i)) {
				t.Errorf("run %d succeeded, and the folder has another one: %s", i, config)
			}
		case !strings.Contains(said[i].String(), "another run is at work in ") && !strings.Contains(said[i].String(), "resume the run in it"):
			t.Errorf("run %d: %v, %q", i, err, said[i].String())
		}
	}
	if succeeded != 1 {
		t.Errorf("%d runs succeeded, want 1", succeeded)
	}
}
