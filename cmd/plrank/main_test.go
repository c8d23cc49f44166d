package main

import (
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/plrank/plrank/cmd/internal/clicks"
	"github.com/plrank/plrank/cmd/internal/commandtest"
)

// childVariable makes the test binary the command plrank.
const childVariable = "PLRANK_TEST_CHILD"

func TestMain(m *testing.M) {
	if os.Getenv(childVariable) != "" {
		main()
	}
	commandtest.Main(m)
}

// child is the command, in a process of its own.
func child(args ...string) *exec.Cmd {
	c := exec.Command(os.Args[0], args...)
	c.Env = append(os.Environ(), childVariable+"=1")
	return c
}

var call = commandtest.Command(subcommands.run).Call

// Every help page fits a screen and a half, 80 columns wide, and names all flags of its
// sub-command once. Its examples, and the ones of topics, name flags that exist.
func TestHelpPagesFitAScreen(t *testing.T) {
	for _, s := range subcommands {
		status, text, stderr := call(s.name, "-help")
		if status != 0 || stderr != "" {
			t.Fatal(s.name, status, stderr)
		}
		if again, page, _ := call("help", s.name); again != 0 || !strings.HasPrefix(page, text) {
			t.Errorf("%s: help begins unlike -help", s.name)
		}
		fits(t, s.name, text)
		if n := strings.Count(text, "\n"); n > 50 {
			t.Errorf("%s: %d lines, want 50 at most", s.name, n)
		}
	}
}

// fits looks that no line is too wide.
func fits(t *testing.T, name, text string) {
	t.Helper()
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		if n := len([]rune(line)); n > 84 {
			t.Errorf("%s: a line of %d: %q", name, n, line)
		}
		if strings.HasSuffix(line, " ") {
			t.Errorf("%s: blanks at the end of %q", name, line)
		}
	}
}

// The overview has all commands and topics; unknown ones are errors that suggest the nearest.
func TestOverviewNamesAllThereIs(t *testing.T) {
	status, text, _ := call("help")
	if status != 0 {
		t.Fatal(status)
	}
	fits(t, "help", text)
	for _, s := range subcommands {
		if !strings.Contains(text, "\n  "+s.name+" ") {
			t.Errorf("no %s", s.name)
		}
	}
	for _, name := range []string{"formats", "objectives", "metrics", "fairness", "files", "faults"} {
		if !strings.Contains(text, "\n  "+name+" ") {
			t.Errorf("no topic %s", name)
		}
	}
	for _, c := range []struct {
		args []string
		want string
	}{
		{nil, "Commands"}, {[]string{"scor"}, "did you mean score?"}, {[]string{"help", "metric"}, "did you mean metrics?"},
	} {
		if status, stdout, stderr := call(c.args...); status != 2 || stdout != "" || !strings.Contains(stderr, c.want) {
			t.Errorf("%v: %d, %s", c.args, status, stderr)
		}
	}
	for _, name := range []string{"version", "-version"} {
		if _, stdout, _ := call(name); !strings.HasPrefix(stdout, "plrank ") || !strings.Contains(stdout, " go1.") {
			t.Error(stdout)
		}
	}
}

var (
	explained = regexp.MustCompile(`(?m)^  -([a-z0-9-]+)(?: |$)`)
	topicName = regexp.MustCompile(`(?m)^  ([a-z]+) `)
	ofTopic   = regexp.MustCompile(` -([a-z0-9-]+)`)
)

// Every flag of every sub-command is explained once: on its page, or by a topic that the page names.
func TestEveryFlagIsExplainedOnce(t *testing.T) {
	lines := [][]string{}
	for _, s := range subcommands {
		lines = append(lines, []string{s.name})
	}
	for _, verb := range clicks.Verbs() {
		lines = append(lines, []string{"clicks", verb})
	}
	for _, line := range lines {
		_, text, _ := call(append(line, "-help")...)
		_, more, _ := strings.Cut(text, "\nMore, by plrank help TOPIC:\n")
		more, _, _ = strings.Cut(more, "\nExamples:\n")
		for _, m := range topicName.FindAllStringSubmatch(more, -1) {
			_, topic, _ := call("help", m[1])
			text += topic
		}
		places := map[string]int{}
		for _, m := range explained.FindAllStringSubmatch(text, -1) {
			places[m[1]]++
		}
		for _, m := range slices.Concat(explained.FindAllStringSubmatch(text, -1), ofTopic.FindAllStringSubmatch(more, -1)) {
			if places[m[1]] != 1 {
				t.Errorf("%v -%s is explained %d times in\n%s", line, m[1], places[m[1]], text)
			}
		}
	}
}
