package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"

	"github.com/snapcore/snapd/asserts"
)

// streamResult says what became of a stream of assertions.
type streamResult struct {
	OK    bool     `json:"ok"`
	Stage string   `json:"stage,omitempty"`
	Error string   `json:"error,omitempty"`
	Added []string `json:"added,omitempty"`
}

// judgeStream adds a whole stream to a database that trusts only the given roots, in one batch, as "snap ack" does:
// each prerequisite must be in the stream or among the roots, and each signature must lead to a root.
func judgeStream(stream []byte, rootsFile string) (res streamResult) {
	fail := func(stage string, err error) streamResult {
		return streamResult{Stage: stage, Error: err.Error()}
	}
	rootsText, err := os.ReadFile(rootsFile)
	if err != nil {
		return fail("roots", err)
	}
	roots, err := decodeAll(rootsText)
	if err != nil {
		return fail("roots", err)
	}
	db, err := asserts.OpenDatabase(&asserts.DatabaseConfig{
		Trusted:   roots,
		Backstore: asserts.NewMemoryBackstore(),
	})
	if err != nil {
		return fail("roots", err)
	}

	all, err := decodeAll(stream)
	if err != nil {
		return fail("decode", err)
	}
	batch := asserts.NewBatch(nil)
	for _, a := range all {
		if err := batch.Add(a); err != nil {
			return fail("batch", err)
		}
	}
	if err := batch.CommitTo(db, &asserts.CommitOptions{Precheck: true}); err != nil {
		return fail("add", err)
	}
	for _, a := range all {
		found, err := a.Ref().Resolve(db.Find)
		if err != nil {
			return fail("find", err)
		}
		// a batch passes over what would replace a root
		if found.Revision() < a.Revision() {
			return fail("find", fmt.Errorf("%v was passed over", a.Ref()))
		}
		res.Added = append(res.Added, a.Ref().Unique())
	}
	res.OK = true
	return res
}

func decodeAll(text []byte) (all []asserts.Assertion, err error) {
	dec := asserts.NewDecoder(bytes.NewReader(text))
	for {
		a, err := dec.Decode()
		if err == io.EOF {
			return all, nil
		}
		if err != nil {
			return nil, fmt.Errorf("assertion %d: %v", len(all)+1, err)
		}
		all = append(all, a)
	}
}

// reportStream prints the result as JSON and ends the program: 0 = everything was added.
func reportStream(res streamResult) {
	enc := json.NewEncoder(os.Stdout)
	enc.SetIndent("", "  ")
	enc.SetEscapeHTML(false)
	enc.Encode(res)
	if !res.OK {
		fmt.Fprintf(os.Stderr, "INVALID (%s): %s\n", res.Stage, res.Error)
		os.Exit(1)
	}
	os.Exit(0)
}
