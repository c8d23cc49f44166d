package main

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/plrank/plrank/internal/blas"
)

// A provenance says how the results of an experiment came about. It is in the same folder.
type provenance struct {
	Command  string   `json:"command"`
	Data     identity `json:"data"`
	Settings settings `json:"settings"`
	Machine  machine  `json:"machine"`
	LeftOut  []string `json:"leftOut,omitempty"`
}

const provenanceEnding = ".json"

// A machine is what times depend on.
type machine struct {
	CPU      string   `json:"cpu"`
	Cores    int      `json:"cores"` // that the program uses, GOMAXPROCS
	System   string   `json:"system"`
	Go       string   `json:"go"`
	BLAS     string   `json:"blas"`
	Modules  []string `json:"modules"`
	Revision string   `json:"revision,omitempty"` // of this project, where the build knows it
}

// markdown is the command and where its settings and its machine are, in one line. The file of the
// provenance is in the folder at path, relative to the document.
func (p provenance) markdown(path, file string) string {
	return fmt.Sprintf("`%s` ([settings and machine](%s))\n", p.Command, filepath.ToSlash(filepath.Join(path, file)))
}

func thisMachine() machine {
	m := machine{
		CPU: cpuModel(), Cores: runtime.GOMAXPROCS(0), System: runtime.GOOS + "/" + runtime.GOARCH, Go: runtime.Version(), BLAS: blas.Name(),
	}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return m
	}
	for _, path := range []string{"gorgonia.org/gorgonia", "gorgonia.org/tensor", "gonum.org/v1/gonum"} {
		for _, d := range info.Deps {
			if d.Path == path {
				m.Modules = append(m.Modules, d.Path[strings.LastIndex(d.Path, "/")+1:]+" "+d.Version)
			}
		}
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" {
			m.Revision = s.Value[:min(12, len(s.Value))]
		}
	}
	return m
}

// cpuModel is what Linux calls the processor, where there is Linux.
func cpuModel() string {
	f, err := os.Open("/proc/cpuinfo")
	if err != nil {
		return "an unknown processor"
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		if key, value, ok := strings.Cut(lines.Text(), ":"); ok && strings.TrimSpace(key) == "model name" {
			return strings.TrimSpace(value)
		}
	}
	return "an unknown processor"
}
