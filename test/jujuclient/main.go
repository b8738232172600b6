// A juju controller as far as its store is concerned: asks with the headers that juju sends, takes only what juju takes, and
// says what it understood. The shapes are written from what juju is known to read; a type that does not fit fails here as there.
//
//	jujuclient URL info NAME [CHANNEL]
//	jujuclient URL find QUERY
//	jujuclient URL refresh < BODY          a body of POST /v2/charms/refresh, sent as it is
//	jujuclient URL resources CHARM NAME
//	jujuclient URL download ADDRESS HASH FILE   HASH is a sha256, or a sha384 as the controller compares it for resources
package main

import (
	"bytes"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"
)

type apiError struct {
	Code    string `json:"code"`
	Message string `json:"message"`
	Extra   struct {
		Releases []struct {
			Base    base   `json:"base"`
			Channel string `json:"channel"`
		} `json:"releases"`
		DefaultBases []base `json:"default-bases"`
	} `json:"extra"`
}

type base struct {
	Architecture string `json:"architecture"`
	Name         string `json:"name"`
	Channel      string `json:"channel"`
}

type download struct {
	HashSHA256 string `json:"hash-sha-256"`
	HashSHA384 string `json:"hash-sha-384"`
	Size       int    `json:"size"`
	URL        string `json:"url"`
}

type resource struct {
	Download    download `json:"download"`
	Description string   `json:"description"`
	Filename    string   `json:"filename"`
	Name        string   `json:"name"`
	Revision    int      `json:"revision"`
	Type        string   `json:"type"`
}

type entity struct {
	Categories []struct {
		Featured bool
		Name     string
	} `json:"categories"`
	Charms      []struct{ Name string } `json:"contains-charms"`
	Description string                  `json:"description"`
	License     string                  `json:"license"`
	Publisher   map[string]string       `json:"publisher"`
	Summary     string                  `json:"summary"`
	UsedBy      []string                `json:"used-by"`
	StoreURL    string                  `json:"store-url"`
}

type release struct {
	Channel struct {
		Name       string `json:"name"`
		Base       base   `json:"base"`
		ReleasedAt string `json:"released-at"`
		Risk       string `json:"risk"`
		Track      string `json:"track"`
	} `json:"channel"`
	Revision struct {
		ConfigYAML   string   `json:"config-yaml"`
		CreatedAt    string   `json:"created-at"`
		Download     download `json:"download"`
		MetadataYAML string   `json:"metadata-yaml"`
		BundleYAML   string   `json:"bundle-yaml"`
		Bases        []base   `json:"bases"`
		Revision     int      `json:"revision"`
		Version      string   `json:"version"`
	} `json:"revision"`
}

type found struct {
	Type           string     `json:"type"`
	ID             string     `json:"id"`
	Name           string     `json:"name"`
	Result         entity     `json:"result"`
	ChannelMap     []release  `json:"channel-map"`
	DefaultRelease release    `json:"default-release"`
	ErrorList      []apiError `json:"error-list"`
}

type results struct {
	Results []struct {
		Charm struct {
			Type         string            `json:"type"`
			Download     download          `json:"download"`
			ID           string            `json:"id"`
			License      string            `json:"license"`
			Name         string            `json:"name"`
			Publisher    map[string]string `json:"publisher"`
			Resources    []resource        `json:"resources"`
			Bases        []base            `json:"bases"`
			Revision     int               `json:"revision"`
			Summary      string            `json:"summary"`
			Version      string            `json:"version"`
			CreatedAt    time.Time         `json:"created-at"`
			MetadataYAML string            `json:"metadata-yaml"`
			ConfigYAML   string            `json:"config-yaml"`
			ActionsYAML  string            `json:"actions-yaml"`
		} `json:"charm"`
		EffectiveChannel string    `json:"effective-channel"`
		Error            *apiError `json:"error"`
		ID               string    `json:"id"`
		InstanceKey      string    `json:"instance-key"`
		Name             string    `json:"name"`
		Result           string    `json:"result"`
		ReleasedAt       time.Time `json:"released-at"`
	} `json:"results"`
	ErrorList []apiError `json:"error-list"`
}

func main() {
	// A slash at the end is cut off, and the rest is what the interface's paths are joined to.
	store := strings.TrimRight(os.Args[1], "/") + "/v2/charms/"
	args := os.Args[3:]
	switch os.Args[2] {
	case "info":
		query := url.Values{"fields": {infoFields}}
		if len(args) > 1 {
			query.Set("channel", args[1])
		}
		var answer found
		call("GET", store+"info/"+args[0]+"?"+query.Encode(), nil, &answer)
		refused(answer.ErrorList)
		if answer.Type != "charm" && answer.Type != "bundle" {
			fail(fmt.Errorf("unexpected response type %q, expected charm or bundle", answer.Type))
		}
		say(answer)
	case "find":
		var answer struct {
			Results   []found    `json:"results"`
			ErrorList []apiError `json:"error-list"`
		}
		call("GET", store+"find?"+url.Values{"q": {args[0]}, "fields": {findFields}}.Encode(), nil, &answer)
		refused(answer.ErrorList)
		say(answer)
	case "refresh":
		body, err := io.ReadAll(os.Stdin)
		fail(err)
		var asked struct {
			Actions []struct {
				InstanceKey string `json:"instance-key"`
			} `json:"actions"`
		}
		fail(json.Unmarshal(body, &asked))
		var answer results
		call("POST", store+"refresh", body, &answer)
		refused(answer.ErrorList)
		for _, action := range asked.Actions {
			answered := false
			for _, one := range answer.Results {
				answered = answered || one.InstanceKey == action.InstanceKey
			}
			if !answered {
				fail(errors.New("refresh action key not valid"))
			}
		}
		for _, one := range answer.Results {
			if one.Error == nil {
				checkDeployable(one.Charm.Type, one.Charm.MetadataYAML, one.Charm.ConfigYAML, one.Charm.Resources)
			}
		}
		say(answer)
	case "resources":
		var answer struct {
			Revisions []resource `json:"revisions"`
		}
		call("GET", store+"resources/"+args[0]+"/"+args[1]+"/revisions", nil, &answer)
		say(answer)
	case "download":
		fetch(args[0], args[1], args[2])
	default:
		fail(errors.New("unknown command"))
	}
}

// checkDeployable refuses what a deployment would stumble over later.
func checkDeployable(kind, metadata, config string, resources []resource) {
	if kind == "charm" && metadata == "" {
		fail(errors.New("does not include the contents of metadata.yaml"))
	}
	if kind == "charm" && config == "" {
		fail(errors.New("does not include the contents of config.yaml"))
	}
	for _, one := range resources {
		if digest, err := hex.DecodeString(one.Download.HashSHA384); err != nil || len(digest) != 48 {
			fail(fmt.Errorf("the resource %q has no valid fingerprint", one.Name))
		}
		if one.Type != "file" && one.Type != "oci-image" {
			fail(fmt.Errorf("unsupported resource type %q", one.Type))
		}
	}
}

func call(method, address string, body []byte, answer interface{}) {
	request, err := http.NewRequest(method, address, bytes.NewReader(body))
	fail(err)
	request.Header.Set("Accept", "application/json")
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("User-Agent", "Juju/3.6.0")
	response, err := http.DefaultClient.Do(request)
	fail(err)
	defer response.Body.Close()
	if response.StatusCode < 200 || response.StatusCode > 204 {
		if response.Header.Get("Content-Type") != "application/json" {
			fail(fmt.Errorf("unexpected charm-hub url %q when parsing headers", address))
		}
		if response.StatusCode >= 500 {
			fail(fmt.Errorf("server error %q", address))
		}
	}
	fail(json.NewDecoder(response.Body).Decode(answer))
	if response.StatusCode == http.StatusNotFound {
		fail(errors.New("not found"))
	}
}

func refused(list []apiError) {
	if len(list) == 0 {
		return
	}
	switch list[0].Code {
	case "not-found", "name-not-found", "resource-not-found":
		fail(errors.New("not found"))
	case "api-error", "bad-argument":
		fail(errors.New("unexpected api error attempting to query the charmhub store"))
	}
	fail(errors.New(list[0].Message))
}

func fetch(address, hash, file string) {
	request, err := http.NewRequest("GET", address, nil)
	fail(err)
	request.Header.Set("User-Agent", "Juju/3.6.0")
	response, err := http.DefaultClient.Do(request)
	fail(err)
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		fail(fmt.Errorf("unable to locate archive (store API responded with status: %s)", response.Status))
	}
	content, err := io.ReadAll(response.Body)
	fail(err)
	if response.ContentLength != int64(len(content)) {
		fail(fmt.Errorf("downloaded size %d does not match expected %d", len(content), response.ContentLength))
	}
	sum := fmt.Sprintf("%x", sha256.Sum256(content))
	if len(hash) == 96 {
		sum = fmt.Sprintf("%x", sha512.Sum384(content))
	}
	if sum != hash {
		fail(fmt.Errorf("downloaded hash %q does not match expected hash %q", sum, hash))
	}
	fail(os.WriteFile(file, content, 0o600))
	say(map[string]int{"size": len(content)})
}

func say(what interface{}) { fail(json.NewEncoder(os.Stdout).Encode(what)) }

func fail(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

const infoFields = "result.categories.featured,result.categories.name,result.description,result.license," +
	"result.publisher.display-name,result.store-url,result.summary,result.used-by," +
	"default-release.revision.download.size,default-release.revision.config-yaml,default-release.revision.metadata-yaml," +
	"default-release.revision.bundle-yaml,default-release.revision.bases.architecture,default-release.revision.bases.name," +
	"default-release.revision.bases.channel,default-release.revision.revision,default-release.revision.version," +
	"default-release.channel.name,default-release.channel.base.architecture,default-release.channel.base.name," +
	"default-release.channel.base.channel,default-release.channel.released-at,default-release.channel.risk," +
	"default-release.channel.track,channel-map.revision.download.size,channel-map.revision.created-at," +
	"channel-map.revision.bases.architecture,channel-map.revision.bases.name,channel-map.revision.bases.channel," +
	"channel-map.revision.revision,channel-map.revision.version,channel-map.channel.name," +
	"channel-map.channel.base.architecture,channel-map.channel.base.name,channel-map.channel.base.channel," +
	"channel-map.channel.released-at,channel-map.channel.risk,channel-map.channel.track"

const findFields = "result.publisher.display-name,result.summary,result.store-url," +
	"default-release.revision.bases.architecture,default-release.revision.bases.name,default-release.revision.bases.channel," +
	"default-release.revision.version"
