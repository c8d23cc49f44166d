package main

import (
	"bytes"
	"strings"
	"testing"

	"github.com/plrank/plrank/cmd/internal/commandtest"
)

// A flag that has no effect with the others, or on the data, is a warning that says what it is for, in every command;
// and there is none where it has one.
func TestFlagsWithoutEffectAreWarnings(t *testing.T) {
	t.Chdir(commandtest.Fold(t))
	call := func(line string) (status int, stderr string) {
		var out, errs bytes.Buffer
		status = subcommands.run(strings.Fields(line), strings.NewReader(""), &out, &errs)
		return status, errs.String()
	}
	for _, line := range []string{
		"train -data . -epochs 1 -members 1 -hidden 4 -out run",
		"clicks simulate -data train.txt -n 100 -out log.jsonl",
		"score -model run/model.npz -data test.txt -out scores",
	} {
		if status, stderr := call(line); status != 0 {
			t.Fatalf("%s: %d, %s", line, status, stderr)
		}
	}
	commandtest.Write(t, "table.csv", asTable(commandtest.Read(t, "test.txt")))
	commandtest.Write(t, "races.txt", "a > b > c\nb > a > c\nc > a > b\na > c > b\n")
	commandtest.Write(t, "ties.txt", "a = b > c\nb > a > c\nc > a > b\na > c > b\n")
	const synthetic = " -data synthetic:mslr -scale .0001 "
	for _, c := range []struct{ line, want string }{
		{"evaluate -model run/model.npz -data test.txt", ""},
		{"evaluate -model run/model.npz -data test.txt -cutoff 1 -discounts 1", "-discounts has no effect on these metrics: it is for names of metrics, and for measures of exposure, such as -report disparity"},
		{"evaluate -model run/model.npz -data test.txt -cutoff 1 -discounts 1 -report disparity", ""},
		{"evaluate -model run/model.npz -data test.txt -discounts precision", ""},
		{"evaluate -model run/model.npz -data test.txt -highest-grade 4", "-highest-grade has no effect on these metrics: it is for err and graded-rbp"},
		{"evaluate -model run/model.npz -data test.txt -highest-grade 4 -report err", ""},
		{"evaluate -model run/model.npz -data table.csv -group-column 4", "-group-column has no effect with -metric expected-ndcg@10: it is for losses and metrics that compare groups"},
		{"evaluate -model run/model.npz -data test.txt -seed 3", "-seed has no effect where nothing is drawn"},
		{"evaluate -model run/model.npz -data test.txt -seed 3 -importance", ""},
		{"evaluate -model run/model.npz -seed 3 -duplicates last" + synthetic, "-duplicates has no effect without -data FILE or FOLDER: it is for what is read"},
		{"compare scores run/model.npz -data test.txt -cutoff 1 -discounts 1", "-discounts has no effect on these metrics"},
		{"compare scores run/model.npz -data test.txt -seed 4", ""},
		{"compare run/model.npz run/model.npz -label-column x" + synthetic, "-label-column has no effect without -data FILE"},
		{"describe -minus-one irrelevant -data train.txt", ""},
		{"describe -headerless -minus-one irrelevant -ignore x" + synthetic, "-ignore has no effect without -data FILE"},
		{"describe -categorical x" + synthetic, "-categorical has no effect without -data FILE"},
		{"describe -seed 3" + synthetic, ""},
		{"describe -seed 3 -data train.txt", "-seed has no effect on a single file"},
		{"describe -cache x -data train.txt", "-cache has no effect on a single file"},
		{"describe -cache off -data train.txt", ""},
		{"score -model run/model.npz -data table.csv -base-column 3", "-base-column has no effect with run/model.npz, which was trained without base scores"},
		{"clicks simulate -n 10 -out - -data train.txt -temperature 2", "-temperature has no effect without -model: all rankings are equally likely"},
		{"clicks simulate -n 10 -out - -data train.txt -temperature 2 -model run/model.npz", ""},
		{"clicks simulate -n 10 -out - -query-column x" + synthetic, "-query-column has no effect without -data FILE"},
		{"clicks bias log.jsonl -method em -minus-one irrelevant", "-minus-one has no effect without -data FILE"},
		{"clicks evaluate log.jsonl run/model.npz -duplicates last", "-duplicates has no effect without -data FILE"},
		{"fit races.txt -ties -prior 1", "-ties has no effect on races.txt, which has no ties"},
		{"fit ties.txt -ties -prior 1", ""},
	} {
		status, stderr := call(c.line)
		if c.want == "" && strings.Contains(stderr, "no effect") || !strings.Contains(stderr, c.want) {
			t.Errorf("%s: %d, %s, want %q", c.line, status, stderr, c.want)
		}
		if status != 0 && !strings.Contains(c.line, "synthetic") { // which has other features than the model
			t.Errorf("%s: %d, %s", c.line, status, stderr)
		}
	}
}
