package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/plrank/plrank/docs"
)

var (
	commands = regexp.MustCompile("(?ms)^```sh\n(.*?)^```$")
	outputs  = regexp.MustCompile("(?ms)^```text\n(.*?)^```$")
)

// The commands of the guide work, one after another in an empty folder.
func TestCommandsOfTheGuideWork(t *testing.T) { commandsWork(t, docs.Guide, 10) }

// The commands of the page on rankings work, and print what it says.
func TestCommandsOfRankingsWork(t *testing.T) {
	page, err := os.ReadFile("../../docs/rankings.md")
	if err != nil {
		t.Fatal(err)
	}
	printed := commandsWork(t, string(page), 3)
	for _, want := range outputs.FindAllStringSubmatch(string(page), -1) {
		if !strings.Contains(printed, want[1]) {
			t.Errorf("the page says\n%sbut the commands print\n%s", want[1], printed)
		}
	}
}

// The commands of the page on clicks work.
func TestCommandsOfClicksWork(t *testing.T) {
	page, err := os.ReadFile("../../docs/clicks.md")
	if err != nil {
		t.Fatal(err)
	}
	commandsWork(t, string(page), 5)
}

// commandsWork runs at least so many blocks of commands, and returns what they print.
func commandsWork(t *testing.T, page string, atLeast int) (printed string) {
	t.Helper()
	bin, dir := t.TempDir(), t.TempDir()
	self, err := filepath.Abs(os.Args[0])
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(self, filepath.Join(bin, "plrank")); err != nil {
		t.Skip(err)
	}
	blocks := commands.FindAllStringSubmatch(page, -1)
	if len(blocks) < atLeast {
		t.Fatalf("%d blocks of commands", len(blocks))
	}
	for _, block := range blocks {
		shell := exec.Command("sh", "-ec", block[1])
		shell.Dir = dir
		shell.Env = append(os.Environ(), childVariable+"=1", "PATH="+bin+string(filepath.ListSeparator)+os.Getenv("PATH"))
		out, err := shell.CombinedOutput()
		if err != nil {
			t.Errorf("%v:\n%s%s", err, block[1], out)
		}
		printed += string(out)
	}
	return printed
}

// The topics are the sections of the guide, in its order, and examples name flags that
// there are.
func TestTopicsAreTheSectionsOfTheGuide(t *testing.T) {
	_, overview, _ := call("help")
	_, overview, _ = strings.Cut(overview, "TOPIC:\n")
	var topics []string
	for line := range strings.Lines(overview) {
		if name, _, ok := strings.Cut(strings.TrimPrefix(line, "  "), " "); ok && strings.HasPrefix(line, "  ") && name != "" {
			topics = append(topics, name)
		}
	}
	var sections []string
	for _, m := range regexp.MustCompile(`(?m)^## (.*)$`).FindAllStringSubmatch(docs.Guide, -1) {
		sections = append(sections, strings.ToLower(m[1]))
	}
	if strings.Join(topics, " ") != strings.Join(sections, " ") {
		t.Errorf("topics %q, sections %q", topics, sections)
	}
	for _, name := range topics {
		status, text, stderr := call("help", name)
		if status != 0 || len(text) < 200 {
			t.Errorf("%s: %d, %s%s", name, status, text, stderr)
		}
		fits(t, name, text)
	}
}
