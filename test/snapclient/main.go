// A device as far as its store is concerned: snapd's own client asks, downloads and checks, and says what it understood.
// It is a tool for tests: it links snapd's code, which is under the GPL, and is no part of the product.
//
//	snapclient URL install NAME CHANNEL FILE    chooses, fetches and checks the file, which snapd does by its digest
//	snapclient URL refresh ID REVISION CHANNEL  what it would refresh to
//	snapclient URL info NAME                    what a person is shown
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"strconv"

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
}

func of(info *snap.Info) told {
	channels := map[string]int{}
	for name, one := range info.Channels {
		channels[name] = one.Revision.N
	}
	return told{
		Name: info.SnapName(), ID: info.SnapID, Version: info.Version, Channel: info.Channel, Base: info.Base,
		Type: string(info.Type()), Confinement: string(info.Confinement), Publisher: info.Publisher.Username,
		Digest: info.Sha3_384, Revision: info.Revision.N, Size: info.Size, Channels: channels, Tracks: info.Tracks,
	}
}

func main() {
	// The daemon puts its knowledge of interfaces here; a client of the store needs none.
	snap.SanitizePlugsSlots = func(*snap.Info) {}
	base, err := url.Parse(os.Args[1])
	fail(err)
	s := store.New(&store.Config{StoreBaseURL: base, AssertionsBaseURL: base, Architecture: "amd64"}, nil)
	ctx := context.Background()
	args := os.Args[3:]
	switch os.Args[2] {
	case "install":
		action := &store.SnapAction{Action: "install", InstanceName: args[0], Channel: args[1]}
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
		results, _, err := s.SnapAction(ctx, []*store.CurrentSnap{current}, []*store.SnapAction{action}, nil, nil, nil)
		fail(err)
		say(of(results[0].Info))
	case "info":
		info, err := s.SnapInfo(ctx, store.SnapSpec{Name: args[0]}, nil)
		fail(err)
		say(of(info))
	}
}

func say(what told) { fail(json.NewEncoder(os.Stdout).Encode(what)) }

// The client's own words for what went wrong.
func fail(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
