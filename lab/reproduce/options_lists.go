package main

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// A list flag holds comma-separated values, each only once.

type nameList []string

func (v *nameList) String() string { return strings.Join(*v, ",") }

func (v *nameList) Set(text string) error {
	return setList((*[]string)(v), text, func(s string) (string, error) {
		if s == "" {
			return "", errors.New("want names, separated by commas")
		}
		return s, nil
	})
}

type numbers []int

func (v *numbers) String() string {
	return strings.Trim(strings.ReplaceAll(fmt.Sprint(*v), " ", ","), "[]")
}

func (v *numbers) Set(text string) error {
	return setList((*[]int)(v), text, func(s string) (int, error) {
		n, err := strconv.Atoi(s)
		if err != nil || n < 1 {
			return 0, fmt.Errorf("%q: want numbers of 1 or more, such as 10,100", s)
		}
		return n, nil
	})
}

type weights []float64

func (v *weights) String() string {
	return strings.Trim(strings.ReplaceAll(fmt.Sprint(*v), " ", ","), "[]")
}

func (v *weights) Set(text string) error {
	return setList((*[]float64)(v), text, func(s string) (float64, error) {
		w, err := strconv.ParseFloat(s, 64)
		if err != nil || !(w >= 0) || math.IsInf(w, 0) {
			return 0, fmt.Errorf("%q: want weights of 0 or more, such as 0,0.1,1", s)
		}
		return w, nil
	})
}

func setList[T comparable](list *[]T, text string, parse func(string) (T, error)) error {
	*list = nil
	for part := range strings.SplitSeq(text, ",") {
		v, err := parse(strings.TrimSpace(part))
		if err != nil {
			return err
		}
		if slices.Contains(*list, v) {
			return fmt.Errorf("%v is repeated", v)
		}
		*list = append(*list, v)
	}
	return nil
}
