// One request over TLS by a device whose clock is behind: Go's own client, which snapd uses, judges the certificates by
// that clock.
//
//	slowclock URL NOW CA METHOD PATH BODY    NOW in RFC 3339; CA the file of the authority that it trusts
package main

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"time"
)

func main() {
	now, err := time.Parse(time.RFC3339, os.Args[2])
	fail(err)
	ca, err := os.ReadFile(os.Args[3])
	fail(err)
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(ca)
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{
		RootCAs:    roots,
		ServerName: "store.example.internal",
		Time:       func() time.Time { return now },
	}}}
	request, err := http.NewRequest(os.Args[4], os.Args[1]+os.Args[5], strings.NewReader(os.Args[6]))
	fail(err)
	request.Host = "store.example.internal"
	request.Header.Set("Content-Type", "application/json")
	response, err := client.Do(request)
	fail(err)
	body, err := io.ReadAll(response.Body)
	fail(err)
	fail(json.NewEncoder(os.Stdout).Encode(map[string]any{"status": response.StatusCode, "body": string(body)}))
}

func fail(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
