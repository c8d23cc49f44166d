package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// completes runs a line of a shell in a folder with a file, where plrank is this program.
func completes(t *testing.T, shell string, args ...string) (found string) {
	t.Helper()
	path, err := exec.LookPath(shell)
	if err != nil {
		t.Skip("no " + shell)
	}
	dir := t.TempDir()
	for name, text := range map[string]string{"bin/plrank": "#!/bin/sh\nexec env " + childVariable + "=1 " + os.Args[0] + " \"$@\"\n", "here/shop.csv": ""} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	c := exec.Command(path, args...)
	c.Dir = filepath.Join(dir, "here")
	c.Env = append(os.Environ(), "PATH="+filepath.Join(dir, "bin")+":"+os.Getenv("PATH"))
	out, err := c.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return string(out)
}

// lines that end in the word to complete, and what it may become
var completed = map[string]string{
	"plrank expl": "explain", "plrank help fair": "fairness", "plrank clicks ev": "evaluate",
	"plrank train -optimi": "-optimizer", "plrank train -data shop.csv -scorer att": "attention", "plrank train -loss plrank-exact+0.1*softm": "plrank-exact+0.1*softmax",
	"plrank clicks bias log -metho": "-method", "plrank clicks bias log -method har": "harvest", "plrank serve -toke": "-token-file",
	"plrank completion fi": "fish", "plrank train -data sho": "shop.csv",
}

// bash asks as readline does; the file is what it falls back to.
func TestBashCompletes(t *testing.T) {
	var script strings.Builder
	script.WriteString("eval \"$(plrank completion bash)\"; complete -p plrank\nask() { COMP_WORDS=(\"$@\"); COMP_CWORD=$(($# - 1)); _plrank plrank; echo \"$*: ${COMPREPLY[*]}.\"; }\n")
	for line := range completed {
		script.WriteString("ask " + strings.ReplaceAll(line, "*", `\*`) + "\n")
	}
	script.WriteString("ask plrank train -loss = softm\nask plrank train ''\n")
	out := completes(t, "bash", "-c", script.String())
	completed := completed
	for line, want := range completed {
		if want == "shop.csv" {
			want = ""
		}
		if !strings.Contains(out, line+": "+want+".\n") {
			t.Errorf("no %q for %q in\n%s", want, line, out)
		}
	}
	for _, want := range []string{"complete -o default -F _plrank plrank\n", "train -loss = softm: softmax.\n", "plrank train : .\n"} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
}

func TestFishCompletes(t *testing.T) {
	var script strings.Builder
	script.WriteString("plrank completion fish | source\n")
	for line := range completed {
		script.WriteString("echo '" + line + ": '(complete -C '" + line + "')\n")
	}
	out := completes(t, "fish", "--no-config", "-c", script.String())
	for line, want := range completed {
		if !strings.Contains(out, line+": "+want+"\n") && !strings.Contains(out, line+": "+want+"\t") {
			t.Errorf("no %q for %q in\n%s", want, line, out)
		}
	}
}

// zsh types each line and Tab into a terminal, where a shell prints between < and > what the line has become.
func TestZshCompletes(t *testing.T) {
	script := `zmodload zsh/zpty
zpty shell zsh -f -i
zpty -w shell 'PS1=; autoload -Uz compinit; compinit -u -D; source <(plrank completion zsh)
	show() { zle complete-word; print -r -- "<$BUFFER>"; BUFFER= }; zle -N show; bindkey "^I" show; print rea""dy'
zpty -r -m shell text '*ready*'
`
	for line := range completed {
		script += "zpty -w -n shell '" + line + "'$'\\t'; zpty -r -m shell text '*<*>*'; print -r -- $text\n"
	}
	out := strings.ReplaceAll(completes(t, "zsh", "-f", "-c", script), `\*`, "*")
	for line, want := range completed {
		fields := strings.Fields(line)
		if whole := strings.Join(append(fields[:len(fields)-1], want), " "); !strings.Contains(out, "<"+whole+" >") {
			t.Errorf("no %q in\n%s", whole, out)
		}
	}
}
