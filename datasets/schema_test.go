package datasets

import (
	"fmt"

	"github.com/plrank/plrank/datasets/schema"
)

// plainNames is a schema of the plain names, which leaves out the columns that are not numbers.
func plainNames(h schema.Header) (schema.Columns, error) {
	c := schema.Columns{Roles: map[string]string{}, Text: map[string]string{}}
	roles := map[string]string{"label": schema.Label, "qid": schema.Query, "docid": schema.Document}
	for i, name := range h.Names {
		if role := roles[name]; role != "" && h.Roles[role] == "" {
			c.Roles[role] = name
			continue
		}
		kind, err := h.Kind(i)
		if err != nil {
			return c, err
		}
		if kind != schema.Number && !h.OfFeatures {
			c.Text[name] = fmt.Sprintf("columns of %s were left out: %%s: of text", kind)
		}
	}
	return c, nil
}
