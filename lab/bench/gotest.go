package main

import (
	"context"
	"fmt"
	"io"
	"os/exec"
	"runtime/debug"
	"strconv"
	"strings"
)

// A tester runs the benchmarks of a part and says on progress how far it is.
type tester func(ctx context.Context, p *part, cores, count int, progress io.Writer) (*results, error)

// commandLine returns the command of a part. Tests are built with the tags that this program
// was built with.
func commandLine(p *part, cores, count int) []string {
	line := []string{
		"go",
		"test",
		"-run",
		"^$",
		"-timeout",
		"0",
		"-bench",
		p.pattern,
		"-cpu",
		strconv.Itoa(cores),
		"-count",
		strconv.Itoa(count),
	}
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, s := range info.Settings {
			if s.Key == "-tags" {
				line = append(line, "-tags", s.Value)
			}
		}
	}
	return append(line, "github.com/plrank/plrank/"+p.pkg)
}

// goTest is the tester that runs go test.
func goTest(ctx context.Context, p *part, cores, count int, progress io.Writer) (*results, error) {
	line := commandLine(p, cores, count)
	command := exec.CommandContext(ctx, line[0], line[1:]...)
	var complaints strings.Builder
	command.Stderr = &complaints
	output, err := command.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := command.Start(); err != nil {
		return nil, err
	}
	results, failed := readResults(output, cores, progress)
	if err := command.Wait(); err != nil {
		return nil, fmt.Errorf("%w\n%s%s", err, complaints.String(), strings.Join(results.other, "\n"))
	}
	return results, failed
}
