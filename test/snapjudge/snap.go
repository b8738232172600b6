package main

import (
	"fmt"
	"sort"

	"github.com/snapcore/snapd/snap"
	"github.com/snapcore/snapd/snap/snapdir"
	"github.com/snapcore/snapd/snap/snapfile"
)

func init() {
	// What an interface refuses is left out when the snap is installed, and keeps no snap from being installed.
	snap.SanitizePlugsSlots = func(*snap.Info) {}
}

// readSnapYaml reads the text as of a snap that is to be installed, and validates it.
func readSnapYaml(text string) (interface{}, error) {
	info, err := snap.InfoFromSnapYaml([]byte(text))
	if err != nil {
		return nil, err
	}
	if err := snap.Validate(info); err != nil {
		return nil, err
	}
	return facts(info), nil
}

// facts is what a device has read of a snap, in the words of its snap.yaml.
func facts(info *snap.Info) map[string]interface{} {
	apps := []string{}
	for name := range info.Apps {
		apps = append(apps, name)
	}
	sort.Strings(apps)
	return map[string]interface{}{
		"name":          info.SuggestedName,
		"version":       info.Version,
		"type":          string(info.Type()),
		"base":          info.Base,
		"architectures": info.Architectures,
		"confinement":   string(info.Confinement),
		"epoch":         info.Epoch,
		"title":         info.OriginalTitle,
		"summary":       info.OriginalSummary,
		"description":   info.OriginalDescription,
		"license":       info.License,
		"apps":          apps,
	}
}

// readContainer opens and reads a snap as a device does before it is installed.
func readContainer(kind, path string) (interface{}, error) {
	var container snap.Container
	if kind == "folder" {
		container = snapdir.New(path)
	} else {
		c, err := snapfile.Open(path)
		if err != nil {
			return nil, err
		}
		container = c
	}
	info, err := snap.ReadInfoFromSnapFile(container, nil)
	if err != nil {
		return nil, err
	}
	said := ""
	logf := func(format string, v ...interface{}) { said += fmt.Sprintf(" ["+format+"]", v...) }
	if err := snap.ValidateContainer(container, info, logf); err != nil {
		return nil, fmt.Errorf("%v%s", err, said)
	}
	return facts(info), nil
}
