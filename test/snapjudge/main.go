// snapjudge reads YAML texts, snap.yaml texts and snap files as a device does, with snapd's own library. It is a tool for tests.
// Each line of its input is a JSON object {"kind": ..., ...}; each line of its output is the answer to one of them.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
)

type question struct {
	Kind string `json:"kind"`
	// Text is what kinds "yaml" and "snap.yaml" read.
	Text string `json:"text"`
	// Path is the squashfs file or the folder that kinds "snap" and "folder" read.
	Path string `json:"path"`
}

type answer struct {
	// Error says why a device refuses it.
	Error string      `json:"error,omitempty"`
	Value interface{} `json:"value,omitempty"`
}

func main() {
	in := bufio.NewReaderSize(os.Stdin, 1<<20)
	out := bufio.NewWriter(os.Stdout)
	defer out.Flush()
	decoder := json.NewDecoder(in)
	encoder := json.NewEncoder(out)
	for decoder.More() {
		var q question
		if err := decoder.Decode(&q); err != nil {
			panic(err)
		}
		value, err := judge(q)
		a := answer{Value: value}
		if err != nil {
			a.Error = err.Error()
		}
		if err := encoder.Encode(a); err != nil {
			panic(err)
		}
	}
}

// judge takes a panic of the library for a refusal: the daemon of a device would not survive the snap either.
func judge(q question) (value interface{}, err error) {
	defer func() {
		if cause := recover(); cause != nil {
			err = fmt.Errorf("panic: %v", cause)
		}
	}()
	switch q.Kind {
	case "yaml":
		return readYaml(q.Text)
	case "snap.yaml":
		return readSnapYaml(q.Text)
	case "snap", "folder":
		return readContainer(q.Kind, q.Path)
	}
	panic(fmt.Sprintf("unknown kind %q", q.Kind))
}
