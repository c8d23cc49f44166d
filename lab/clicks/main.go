// Command clicks measures package clicks on simulated logs, and writes logs for peers:
//
//	go run ./clicks log DIR                 DIR/log.jsonl and DIR/estimates.json for obp_check.py
//	go run ./clicks intervals               error and coverage of intervals over 200 logs
//	go run ./clicks bias                    error of the bias where every query is seen once
//	go run ./clicks again DIR               bias where queries come back, and DIR/again.csv for toolkit.py
//	go run ./clicks affine                  error of α and β with known relevance
//	go run ./clicks openbandit bts.csv random.csv LOG    the Open Bandit Dataset
//	go run ./clicks sessions FIRST SECOND   the position-based model on sessions of Yandex
//	go run ./clicks curves -data DIR -name NAME    NDCG against the number of clicks, appended to clicks/curves.csv
//	go run ./clicks summary                 its means and pictures
//	go run ./clicks cascade -data DIR -out LOGS    cascade clicks, and logs for gbm.py
//	go run ./clicks safety -data DIR -name NAME    training on few or adversarial clicks
//	go run ./clicks compare                 impressions until a decision, by team draft and by A/B
//	go run ./clicks gate                    what the gate lets through
//	go run ./clicks speed DIR N             the time and memory to evaluate a log of N new queries in a file
package main

import (
	"log"
	"maps"
	"os"
	"slices"
	"strings"
)

func main() {
	log.SetFlags(0)
	commands := map[string]func([]string) error{
		"log":        writeLog,
		"intervals":  intervals,
		"bias":       bias,
		"again":      again,
		"affine":     affine,
		"openbandit": openBandit,
		"sessions":   sessions,
		"speed":      speed,
		"curves":     curves,
		"summary":    summary,
		"safety":     safety,
		"gate":       gate,
		"cascade":    cascade,
		"compare":    compare,
	}
	if len(os.Args) < 2 || commands[os.Args[1]] == nil {
		log.Fatal("want one of ", strings.Join(slices.Sorted(maps.Keys(commands)), ", "), "; see the package comment")
	}
	if err := commands[os.Args[1]](os.Args[2:]); err != nil {
		log.Fatal(err)
	}
}
