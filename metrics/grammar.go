package metrics

import (
	"fmt"
	"regexp"
	"strconv"
)

// call holds a name, its parameter and its cutoff.
type call struct {
	name, param, value string // rbp(p=0.9): "rbp", "p", "0.9"; rbp(0.9): "rbp", "", "0.9"
	cutoff             int    // 0: none
}

var callSyntax = regexp.MustCompile(`^([a-z0-9-]+)(?:\(\s*(?:([a-z]+)\s*=)?\s*([^()=\s]+)\s*\))?(?:@([0-9]+))?$`)

// parseCall reads name, name@k, name(value)@k or name(parameter=value)@k.
func parseCall(text string) (call, error) {
	part := callSyntax.FindStringSubmatch(text)
	if part == nil {
		return call{}, fmt.Errorf("metrics: %q is not a metric's name; names look like ndcg@5, map or rbp(p=0.95)@10", text)
	}
	c := call{name: part[1], param: part[2], value: part[3]}
	if part[4] != "" {
		var err error
		if c.cutoff, err = strconv.Atoi(part[4]); err != nil || c.cutoff < 1 {
			return c, fmt.Errorf("metrics: %q: the cutoff must be a rank, 1 or more; leave it off for the whole list", text)
		}
	}
	return c, nil
}

// param describes the parameter of a name; the zero value means that there is none.
type param struct {
	name     string
	standard float64
	want     string
	valid    func(v float64) bool
}

// parse returns the value of the parameter in a call.
func (p param) parse(c call) (float64, error) {
	switch {
	case c.value == "":
		return p.standard, nil
	case c.param != "" && c.param != p.name:
		return 0, fmt.Errorf("%s has no parameter %q", c.name, c.param)
	case p.name == "":
		return 0, fmt.Errorf("%s takes no parameter", c.name)
	}
	v, err := strconv.ParseFloat(c.value, 64)
	if err != nil || !p.valid(v) {
		return 0, fmt.Errorf("%s must be %s", p.name, p.want)
	}
	return v, nil
}

// format returns what parseCall reads, without a parameter that has its standard value.
func (p param) format(name string, value float64, cutoff int) string {
	if value != p.standard {
		name += fmt.Sprintf("(%s=%v)", p.name, value)
	}
	if cutoff > 0 {
		name += fmt.Sprintf("@%d", cutoff)
	}
	return name
}
