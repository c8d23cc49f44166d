package losses

import "strings"

// Objective reads a loss as [Parse] does, and gives what it minimises, by its value: the
// losses whose value is an estimate of an exact one, or like that of policy-gradient means
// nothing, are replaced by that one, plrank2 by plrank-exact and disparity(plrank2) by
// disparity. Others are themselves, and those that draw noise need a Sampler still. It is to
// compare models with, not to be differentiated. Errors are those of Parse.
func Objective(text string) (Func, error) {
	terms, err := parseTerms(text)
	if err != nil {
		return nil, err
	}
	for i, t := range terms {
		name, _, _ := strings.Cut(t.Loss, "(")
		if of := families[name].objective; of != "" {
			name = of
		} else if families[name].by == nil {
			continue
		}
		terms[i].build = families[name].build
	}
	return sum(terms), nil
}
