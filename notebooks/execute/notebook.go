package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
)

// A notebook is a file in Jupyter's format. Only the parts that matter here are taken
// apart; the rest stays as it is.
type notebook map[string]any

func readNotebook(path string) (notebook, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	d := json.NewDecoder(bytes.NewReader(b))
	d.UseNumber()
	var n notebook
	if err := d.Decode(&n); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if _, ok := n["cells"].([]any); !ok {
		return nil, fmt.Errorf("%s: not a notebook: it has no cells", path)
	}
	return n, nil
}

// write writes the notebook as Jupyter does, so that it makes small diffs.
func (n notebook) write(path string) error {
	for _, c := range n.codeCells() {
		c.mergeStreams()
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", " ")
	if err := e.Encode(n); err != nil {
		return err
	}
	return os.WriteFile(path, b.Bytes(), 0o644)
}

// A cell is a code cell.
type cell map[string]any

func (n notebook) codeCells() []cell {
	var list []cell
	for _, c := range n["cells"].([]any) {
		if c, ok := c.(map[string]any); ok && c["cell_type"] == "code" {
			list = append(list, c)
		}
	}
	return list
}

// source is the text of a cell.
func (c cell) source() string { return text(c["source"]) }

// volatile reports whether the outputs of a cell may differ from run to run.
func (c cell) volatile() bool {
	metadata, _ := c["metadata"].(map[string]any)
	tags, _ := metadata["tags"].([]any)
	return slices.Contains(tags, any("nbval-ignore-output"))
}

// outputs are what there is to compare: the texts of stdout and stderr, and the
// texts of each result, in order. Pictures count as being there.
func (c cell) outputs() []string {
	streams := map[string]string{}
	var list []string
	outputs, _ := c["outputs"].([]any)
	for _, o := range outputs {
		o, _ := o.(map[string]any)
		if name, ok := o["name"].(string); ok {
			streams[name] += text(o["text"])
			continue
		}
		data, _ := o["data"].(map[string]any)
		types := make([]string, 0, len(data))
		for t := range data {
			types = append(types, t)
		}
		slices.Sort(types)
		for _, t := range types {
			if strings.HasPrefix(t, "image/") {
				list = append(list, t)
			} else {
				list = append(list, t+"\n"+text(data[t]))
			}
		}
	}
	for _, name := range []string{"stdout", "stderr"} {
		if s, ok := streams[name]; ok {
			list = append(list, name+"\n"+s)
		}
	}
	return list
}

// mergeStreams makes one output of the pieces in which a text has arrived.
func (c cell) mergeStreams() {
	outputs, _ := c["outputs"].([]any)
	var merged []any
	for _, o := range outputs {
		o, _ := o.(map[string]any)
		if len(merged) > 0 && o["output_type"] == "stream" {
			last, _ := merged[len(merged)-1].(map[string]any)
			if last["output_type"] == "stream" && last["name"] == o["name"] {
				last["text"] = strings.SplitAfter(text(last["text"])+text(o["text"]), "\n")
				continue
			}
		}
		merged = append(merged, o)
	}
	if merged != nil {
		c["outputs"] = merged
	}
}

// text is a text, which may be stored as a list of lines.
func text(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case []string:
		return strings.Join(v, "")
	case []any:
		var b strings.Builder
		for _, line := range v {
			s, _ := line.(string)
			b.WriteString(s)
		}
		return b.String()
	}
	return ""
}
