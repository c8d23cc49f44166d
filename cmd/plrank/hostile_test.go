//go:build commands

package main

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/plrank/plrank/cmd/internal/commandtest"
)

var (
	flagOfHelp   = regexp.MustCompile(`(?m)(?:^  |\s)-([a-z0-9][a-z0-9-]*)`)
	notANumber   = regexp.MustCompile(`(?:NaN|Inf)\b`)
	hostile      = []string{"-1", "0", "NaN", "Inf", "-Inf", "1e300", "1e-320", "9223372036854775807", "-9223372036854775808", "18446744073709551616"}
	notForValues = []string{"help"}
)

// Whatever number a flag is given, a command ends soon: with an error that says what is wrong, or with numbers. The
// flags are those that its help names.
func TestHostileNumbersAreRefusedOrHandled(t *testing.T) {
	dir := commandtest.Fold(t)
	t.Chdir(dir)
	call := func(args ...string) (status int, stdout, stderr string) {
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
		var out, errs bytes.Buffer
		status = subcommands.run(args, strings.NewReader(""), &out, &errs)
		return status, out.String(), errs.String()
	}
	must := func(line string) {
		t.Helper()
		if status, _, stderr := call(strings.Fields(line)...); status != 0 {
			t.Fatalf("%s: %d, %s", line, status, stderr)
		}
	}
	must("train -data . -epochs 1 -members 1 -hidden 4 -out run")
	must("clicks simulate -data train.txt -model run/model.npz -n 300 -out log.jsonl")
	must("clicks bias log.jsonl -out bias.json")
	commandtest.Write(t, "races.txt", strings.Repeat("a > b > c\nb > a > c\nc > a > b\na > c > b\n", 3))
	quick := " -epochs 1 -members 1 -hidden 4 -samples 2 "
	for _, line := range []string{
		"train -data ." + quick,
		"train -data . -loss plrank2 -scorer attention -members 2 -transform quantile -bins 3 -optimizer adamw" + quick,
		"tune -data . -grid lr=.01,.02 -trials 1" + quick,
		"score -model run/model.npz -data test.txt -exposure - -run r",
		"evaluate -model run/model.npz -data test.txt -report expected-map,graded-rbp",
		"compare run/model.npz run/model.npz -data test.txt",
		"describe -data train.txt",
		"describe -data synthetic:mslr -scale .0001",
		"clicks check log.jsonl",
		"clicks bias log.jsonl",
		"clicks evaluate log.jsonl run/model.npz -require -1000 -bias bias.json",
		"clicks simulate -data train.txt -model run/model.npz -out -",
		"fit races.txt -prior 1",
		"fit races.txt -prior 1 -ties",
		"serve -model none.npz -log none",
	} {
		words := strings.Fields(line)
		name := words[:1]
		if words[0] == "clicks" {
			name = words[:2]
		}
		_, help, _ := call(append(slices.Clone(name), "-help")...)
		help, _, _ = strings.Cut(help, "\nExamples:")
		var flags []string
		for _, m := range flagOfHelp.FindAllStringSubmatch(help, -1) {
			if !slices.Contains(flags, m[1]) && !slices.Contains(notForValues, m[1]) {
				flags = append(flags, m[1])
			}
		}
		tried := 0
		for _, f := range flags {
			if _, _, stderr := call(append(slices.Clone(words), "-"+f+"=x")...); !strings.Contains(stderr, "-"+f+" x: ") {
				continue // it takes no number
			}
			tried++
			for _, value := range hostile {
				before, start := files(t, dir), time.Now()
				status, stdout, stderr := call(append(slices.Clone(words), "-"+f+"="+value)...)
				what := line + " -" + f + "=" + value
				if took := time.Since(start); took > time.Minute {
					t.Errorf("%s took %v", what, took)
				}
				if status == 0 && notANumber.MatchString(stdout) {
					t.Errorf("%s: no error, and\n%s", what, stdout)
				}
				if said := f == "seed" || strings.Contains(stderr, f) || strings.Contains(stderr, strings.ReplaceAll(f, "-", " ")); status == 2 && !said {
					t.Errorf("%s: an error that does not name the flag: %s", what, stderr)
				}
				if status > 2 || status != 0 && stderr == "" {
					t.Errorf("%s: status %d, %s", what, status, stderr)
				}
				for _, path := range files(t, dir) {
					if !slices.Contains(before, path) {
						os.RemoveAll(path)
					}
				}
			}
		}
		if tried == 0 {
			t.Errorf("%s: no flag of a number in\n%s", line, help)
		}
	}
}

// files returns the files of a folder.
func files(t *testing.T, dir string) []string {
	t.Helper()
	list, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil {
		t.Fatal(err)
	}
	return list
}
