// A device as far as its store is concerned: snapd's own client asks, downloads and checks, and says what it understood.
// It is a tool for tests: it links snapd's code, which is under the GPL, and is no part of the product.
//
//	snapclient URL install NAME CHANNEL FILE [COHORT]  chooses, fetches and checks the file, which snapd does by its digest
//	snapclient URL refresh ID REVISION CHANNEL [SESSION [auto]]  what it would refresh to, with the session of a device, or by itself
//	snapclient URL delta ID REVISION ROOT FILE         refreshes a snap that lies below ROOT, as snapd does by what changed
//	snapclient URL info NAME                           what a person is shown
//	snapclient URL find|prefix|common-id|category WHAT what a person finds; 'wide' before it: in all channels
//	snapclient URL names                               the catalog of commands
//	snapclient URL sections                            where a person begins to look
//	snapclient URL cohort NAME                         a new cohort's key
//	snapclient URL assertion TYPE KEY...               an assertion
//	snapclient URL sequence TYPE NUMBER KEY...         one of a sequence; 0 for the newest
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"strconv"
	"strings"

	"github.com/snapcore/snapd/asserts"
	"github.com/snapcore/snapd/dirs"
	"github.com/snapcore/snapd/overlord/auth"
	"github.com/snapcore/snapd/progress"
	"github.com/snapcore/snapd/snap"
	"github.com/snapcore/snapd/store"
)

type told struct {
	Name, ID, Version, Channel, Redirect, Base, Type, Confinement, Publisher, Digest string
	Revision                                                                         int
	Size                                                                             int64
	Channels                                                                         map[string]int
	Tracks                                                                           []string
	CommonIDs                                                                        []string
	Deltas                                                                           []string
}

// What snapd writes down of the catalog.
type catalog map[string][]string

func (c catalog) AddSnap(name, version, summary string, commands []string) error {
	c[name] = append([]string{version, summary}, commands...)
	return nil
}

func of(info *snap.Info) told {
	channels := map[string]int{}
	for name, one := range info.Channels {
		channels[name] = one.Revision.N
	}
	return told{
		Name: info.SnapName(), ID: info.SnapID, Version: info.Version, Channel: info.Channel, Base: info.Base,
		Type: string(info.Type()), Confinement: string(info.Confinement), Publisher: info.Publisher.Username,
		Digest: info.Sha3_384, Revision: info.Revision.N, Size: info.Size, Channels: channels, Tracks: info.Tracks, CommonIDs: info.CommonIDs,
	}
}

// A device that has a session already.
type device struct{ session string }

func (d device) Device() (*auth.DeviceState, error) {
	return &auth.DeviceState{SessionMacaroon: d.session}, nil
}
func (d device) UpdateDeviceAuth(state *auth.DeviceState, _ string) (*auth.DeviceState, error) {
	return state, nil
}
func (d device) UpdateUserAuth(user *auth.UserState, _ []string) (*auth.UserState, error) {
	return user, nil
}
func (d device) StoreID(fallback string) (string, error) { return fallback, nil }
func (d device) DeviceSessionRequestParams(string) (*store.DeviceSessionRequestParams, error) {
	return nil, store.ErrNoSerial
}
func (d device) ProxyStoreParams(url *url.URL) (string, *url.URL, error) { return "", url, nil }
func (d device) CloudInfo() (*auth.CloudInfo, error)                     { return nil, nil }

func main() {
	// The daemon puts its knowledge of interfaces here; a client of the store needs none.
	snap.SanitizePlugsSlots = func(*snap.Info) {}
	base, err := url.Parse(os.Args[1])
	fail(err)
	config := &store.Config{StoreBaseURL: base, AssertionsBaseURL: base, Architecture: "amd64"}
	s := store.New(config, nil)
	ctx := context.Background()
	args := os.Args[3:]
	switch os.Args[2] {
	case "install":
		action := &store.SnapAction{Action: "install", InstanceName: args[0], Channel: args[1]}
		if len(args) > 3 {
			action.CohortKey = args[3]
		}
		results, _, err := s.SnapAction(ctx, nil, []*store.SnapAction{action}, nil, nil, nil)
		fail(err)
		info := results[0].Info
		fail(s.Download(ctx, args[0], args[2], &info.DownloadInfo, progress.Null, nil, nil))
		said := of(info)
		said.Redirect = results[0].RedirectChannel
		say(said)
	case "refresh":
		revision, err := strconv.Atoi(args[1])
		fail(err)
		current := &store.CurrentSnap{InstanceName: "hello", SnapID: args[0], Revision: snap.R(revision), TrackingChannel: args[2]}
		action := &store.SnapAction{Action: "refresh", InstanceName: "hello", SnapID: args[0]}
		if len(args) > 3 {
			s = store.New(config, device{session: args[3]})
		}
		options := &store.RefreshOptions{IsAutoRefresh: len(args) > 4}
		results, _, err := s.SnapAction(ctx, []*store.CurrentSnap{current}, []*store.SnapAction{action}, nil, nil, options)
		fail(err)
		say(of(results[0].Info))
	case "delta":
		revision, err := strconv.Atoi(args[1])
		fail(err)
		dirs.SetRootDir(args[2])
		current := &store.CurrentSnap{InstanceName: "hello", SnapID: args[0], Revision: snap.R(revision), TrackingChannel: "latest/stable"}
		action := &store.SnapAction{Action: "refresh", InstanceName: "hello", SnapID: args[0]}
		results, _, err := s.SnapAction(ctx, []*store.CurrentSnap{current}, []*store.SnapAction{action}, nil, nil, nil)
		fail(err)
		info := results[0].Info
		fail(s.Download(ctx, "hello", args[3], &info.DownloadInfo, progress.Null, nil, nil))
		said := of(info)
		for _, delta := range info.Deltas {
			said.Deltas = append(said.Deltas, fmt.Sprintf("%s %d to %d", delta.Format, delta.FromRevision, delta.ToRevision))
		}
		say(said)
	case "info":
		info, err := s.SnapInfo(ctx, store.SnapSpec{Name: args[0]}, nil)
		fail(err)
		say(of(info))
	case "names":
		var names bytes.Buffer
		commands := catalog{}
		fail(s.WriteCatalogs(ctx, &names, commands))
		say(map[string]interface{}{"Names": strings.Fields(names.String()), "Commands": commands})
	case "sections":
		sections, err := s.Sections(ctx, nil)
		fail(err)
		say(map[string]interface{}{"Sections": sections})
	case "cohort":
		keys, err := s.CreateCohorts(ctx, args)
		fail(err)
		say(keys)
	case "assertion":
		sayAssertion(s.Assertion(asserts.Type(args[0]), args[1:], nil))
	case "sequence":
		number, err := strconv.Atoi(args[1])
		fail(err)
		sayAssertion(s.SeqFormingAssertion(asserts.Type(args[0]), args[2:], number, nil))
	default:
		look(ctx, s, os.Args[2:])
	}
}

func look(ctx context.Context, s *store.Store, args []string) {
	search := &store.Search{}
	if args[0] == "wide" {
		search.Scope, args = "wide", args[1:]
	}
	switch args[0] {
	case "prefix":
		search.Prefix = true
		search.Query = args[1]
	case "common-id":
		search.CommonID = args[1]
	case "category":
		search.Category = args[1]
	default:
		search.Query = args[1]
	}
	infos, err := s.Find(ctx, search, nil)
	fail(err)
	found := []told{}
	for _, info := range infos {
		found = append(found, of(info))
	}
	say(map[string]interface{}{"Found": found})
}

func sayAssertion(assertion asserts.Assertion, err error) {
	if asserts.IsNotFound(err) {
		say(map[string]interface{}{"NotFound": true})
		return
	}
	fail(err)
	say(map[string]interface{}{"Format": assertion.Format(), "Revision": assertion.Revision()})
}

func say(what interface{}) { fail(json.NewEncoder(os.Stdout).Encode(what)) }

// The client's own words for what went wrong.
func fail(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
